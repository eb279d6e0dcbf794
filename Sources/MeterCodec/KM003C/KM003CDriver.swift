package import Domain

/// Driver of a KM003C or KM002C (Docs/Protocols/KM003C.md#link).
///
/// It has no commands, because none is known to be harmless. For a requested sampling rate it authenticates, starts the
/// meter's graph and fetches the samples from the queue (`KM003CSampling`).
package struct KM003CDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder: KM003CDecoder
    private var queue: KM003CSampling
    private var breaks = BreakGuard<KM003CSteadiness>()
    package var isFiltering = true
    private var lastID: UInt8 = 0
    /// ID of the unanswered request that starts or stops the graph (the meter's own sampling).
    private var queueControlID: UInt8?
    private var isMonitorOn = false
    /// ID of the request for the PD monitor; nil after a refusal.
    private var monitorID: UInt8?
    /// IDs of requests that await an accept or reject, newest last.
    private var awaited: [UInt8] = []
    /// IDs of unanswered requests for data, newest last.
    private var asked: [UInt8] = []
    /// Whether this driver requested the last data message. Otherwise samples after its queue are ignored.
    private var isLastDataOurs = false
    /// Maximum length of `awaited` and `asked`. Answers to older requests no longer arrive.
    private static let rememberedMax = 8

    /// - Parameter transport: over links other than `bulk`, the only one proved to work
    ///   (Docs/Protocols/KM003C.md#link), the authentication gets fewer attempts.
    package init(model: ModelName, over transport: LinkAddress.Transport = .bulk) {
        profile = Self.profile(of: model)
        decoder = KM003CDecoder()
        queue = KM003CSampling(model: model, isProved: transport == .bulk)
    }

    package var wantedRate: Int? {
        get { queue.wanted?.samplesPerSecond }
        set { queue.wanted = newValue.flatMap { KM003CRate(samplesPerSecond: $0) } }
    }

    package var sampling: MeterSampling { queue.report }

    /// Connects with a new decoder, because the old one contains the last link's USB PD contract.
    ///
    /// A KM002C reports USB PD only after its monitor was switched on (jfessard/km003c-web, docs/PROTOCOL.md). A KM003C
    /// may refuse this request.
    package mutating func opening() -> [Outgoing] {
        (decoder, breaks) = (KM003CDecoder(), BreakGuard())
        monitorID = nil
        queueControlID = nil
        (awaited, asked, isLastDataOurs) = ([], [], false)
        queue.restart()
        var steps = [control(.connect)]
        var monitor = control(.pdMonitorOn, parameter: 1)
        monitor.pause = .milliseconds(200)
        monitorID = lastID
        isMonitorOn = true
        steps.append(monitor)
        return steps
    }

    package mutating func poll() -> [UInt8] {
        let turn = queue.turn(after: lastID)
        decoder.graphRate = queue.runningRate
        switch turn {
        case .measure:
            return request([.adc, .pd])
        case .fetch(let attributes):
            return request(attributes)
        case .prove(let bytes):
            lastID = queue.proofID ?? lastID
            return bytes
        case .control(let kind, let parameter):
            let outgoing = control(kind, parameter: parameter)
            queueControlID = lastID
            return outgoing.bytes
        }
    }

    /// Returns a request for any attributes, such as the settings, which `poll` omits.
    package mutating func request(_ attributes: KM003CAttributes) -> [UInt8] {
        let id = nextID()
        asked.append(id)
        if asked.count > Self.rememberedMax { asked.removeFirst() }
        return KM003CHeader(.getData, id: id, parameter: attributes.rawValue).bytes
    }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        if queue.takesBytes {
            if queue.receive(bytes) { handle(.acknowledged) }
            return
        }
        decoder.append(bytes)
        while let step = decoder.next() {
            switch step {
            case .frame(.km003c(let message)): tell(event(message), handle)
            case .frame(let frame): handle(.frame(frame))
            case .skipped(let count, let error): handle(.skipped(count: count, because: error))
            }
        }
    }

    /// Delays measurements (`BreakGuard`). Queue samples pass immediately, because they have their own timestamps.
    private mutating func tell(_ event: MeterEvent, _ handle: (MeterEvent) -> Void) {
        guard isFiltering, case .frame(.km003c(let message)) = event, let adc = message.adc, message.graphRate == nil,
            message.queueCount == 0
        else { return handle(event) }
        let parts = message.payloads.isEmpty ? nil : message.parts
        breaks.take(
            adc.steadiness, as: .km003c(message), parts: parts.map { (.km003c($0.measurements), .km003c($0.rest)) },
            handle)
    }

    package mutating func closing() -> [Outgoing] {
        var steps: [Outgoing] = []
        if queue.isStarted { steps.append(control(.stopGraph)) }
        queue.restart()
        if isMonitorOn {
            steps.append(control(.pdMonitorOff))
            isMonitorOn = false
        }
        steps.append(control(.disconnect))
        return steps
    }

    package mutating func discardPartial() -> Int {
        queue.answerOverdue()
        queueControlID = nil
        return decoder.reset()
    }

    /// Returns the next request's ID, which is never 0 (`KM003CFraming.isPlausible`).
    private mutating func nextID() -> UInt8 {
        lastID = lastID == .max ? 1 : lastID + 1
        return lastID
    }

    private mutating func control(_ kind: KM003CKind, parameter: UInt16 = 0) -> Outgoing {
        let id = nextID()
        awaited.append(id)
        if awaited.count > Self.rememberedMax { awaited.removeFirst() }
        // The meter could treat two requests in one packet as one. Answers arrive in under 1 ms
        // (Docs/Protocols/KM003C.md#link).
        return Outgoing(KM003CHeader(kind, id: id, parameter: parameter).bytes, pause: .milliseconds(20))
    }

    /// Returns the event of a message, which must have a waiting request's ID: without a checksum, noise can look like
    /// an answer.
    private mutating func event(_ message: KM003CMessage) -> MeterEvent {
        switch message.kind {
        case .accept:
            return controlTaken(message) ? .acknowledged : passedOver
        case .reject where message.id == queueControlID:
            // This answers the driver's own graph request, so it is not reported as the refusal of a user's command.
            return controlTaken(message) ? .acknowledged : passedOver
        case .reject where message.id == monitorID:
            // The meter has no monitor or does not need it. No user's command was refused.
            monitorID = nil
            return takeAwaited(message.id) ? .acknowledged : passedOver
        case .reject, .notReadable:
            return takeAwaited(message.id) || message.id == lastID ? .rejected : passedOver
        case .disconnect:
            // This message answers no request. It was seen from a meter that an earlier program had left connected
            // (Docs/Protocols/KM003C.md#link).
            return passedOver
        case .data:
            isLastDataOurs = takeAsked(message.id)
            if isLastDataOurs, message.payload(.queue)?.isEmpty == false { queue.samplesCame() }
            return isLastDataOurs ? .frame(.km003c(message)) : passedOver
        default:
            // A sample after a queue has no request ID, so it counts only if this driver requested the last data
            // message.
            return isLastDataOurs ? .frame(.km003c(message)) : passedOver
        }
    }

    private mutating func controlTaken(_ message: KM003CMessage) -> Bool {
        guard takeAwaited(message.id) else { return false }
        if message.id == queueControlID {
            queueControlID = nil
            queue.controlAnswered(isAccepted: message.kind == .accept)
        }
        return true
    }

    private var passedOver: MeterEvent {
        .skipped(count: decoder.frameBytes.count, because: .implausibleField(offset: 1))
    }

    /// Returns whether a request for data with this ID is unanswered. Also removes all older ones, because the meter
    /// answers in order.
    private mutating func takeAsked(_ id: UInt8) -> Bool {
        guard let place = asked.firstIndex(of: id) else { return false }
        asked.removeFirst(place + 1)
        return true
    }

    private mutating func takeAwaited(_ id: UInt8) -> Bool {
        guard let place = awaited.firstIndex(of: id) else { return false }
        awaited.remove(at: place)
        return true
    }

    /// Intervals are from Docs/Protocols/KM003C.md#link and Docs/Protocols/KM003C.md#what-becomes-of-the-payloads. The
    /// vendor's program polls about five times a second; a queue should be emptied every 40 to 200 ms. Answers arrive
    /// in under 1 ms, but other programs wait up to 2 s.
    private static func profile(of model: ModelName) -> MeterProfile {
        MeterProfile(
            model: model,
            rhythm: .poll(interval: .milliseconds(200), shortest: .milliseconds(40)),
            answerTimeout: .seconds(2),
            baudRate: 115_200,
            filters: true,
            rates: KM003CRate.allCases.map(\.samplesPerSecond)
        )
    }
}
