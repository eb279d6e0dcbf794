package import Domain

/// The driver of a KM003C or KM002C: each request has a number that its answer repeats (Docs/Protocols/KM003C.md#link).
///
/// It connects, asks for data and disconnects, and knows no message that could change the meter: no command is
/// known to be harmless. Where a rate is wanted, it
/// proves itself, starts the meter's graph and fetches the samples from its queue (`KM003CSampling`).
package struct KM003CDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder: KM003CDecoder
    private var queue: KM003CSampling
    private var breaks = BreakGuard<KM003CSteadiness>()
    package var isFiltering = true
    private var lastID: UInt8 = 0
    /// The number of the request that starts or stops the graph, until it is answered.
    private var queueControlID: UInt8?
    private var isMonitorOn = false
    /// The number of the request for the PD monitor, until it is refused.
    private var monitorID: UInt8?
    /// The numbers of the requests that still expect an accept or reject, newest last.
    private var awaited: [UInt8] = []
    /// The numbers of the requests for data that are not answered yet, newest last.
    private var asked: [UInt8] = []
    /// Whether the last data answered one of them: whatever follows a queue belongs to it.
    private var isLastDataOurs = false
    /// Most requests of either kind that are remembered: answers to older ones no longer come.
    private static let rememberedMax = 8

    /// - Parameter transport: the link, which tells whether anybody has shown the queue over it
    ///   (Docs/Protocols/KM003C.md#link).
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

    /// Connects. The decoder starts afresh, because the contract that it has followed belongs to the last link.
    ///
    /// A KM002C reports USB PD only after its monitor was switched on (jfessard/km003c-web, docs/PROTOCOL.md); a KM003C
    /// does not need it and may refuse. Neither an accept, a refusal, nor 200 ms of silence keeps the driver from
    /// asking.
    package mutating func opening() -> [Outgoing] {
        (decoder, breaks) = (KM003CDecoder(), BreakGuard())
        monitorID = nil
        queueControlID = nil
        // What was asked over the last link is not answered over this one.
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

    /// The request for any attributes, for example the settings, which `poll` does not request.
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

    /// Passes an event on, or holds its measurements back (`BreakGuard`). Those in a queue have a clock of their own, and wait for
    /// nothing.
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

    /// The number of the next request, never 0; `KM003CFraming` says why.
    private mutating func nextID() -> UInt8 {
        lastID = lastID == .max ? 1 : lastID + 1
        return lastID
    }

    private mutating func control(_ kind: KM003CKind, parameter: UInt16 = 0) -> Outgoing {
        let id = nextID()
        awaited.append(id)
        if awaited.count > Self.rememberedMax { awaited.removeFirst() }
        // Two requests in one packet could be read as one; answers arrive in under 1 ms
        // (Docs/Protocols/KM003C.md#link).
        return Outgoing(KM003CHeader(kind, id: id, parameter: parameter).bytes, pause: .milliseconds(20))
    }

    /// Turns a message into an event. Answers have no check, so noise can look like one: an answer counts only with the
    /// number of a request that waits for it.
    private mutating func event(_ message: KM003CMessage) -> MeterEvent {
        switch message.kind {
        case .accept:
            return controlTaken(message) ? .acknowledged : passedOver
        case .reject where message.id == queueControlID:
            // Not the refusal of a command.
            return controlTaken(message) ? .acknowledged : passedOver
        case .reject where message.id == monitorID:
            // It has no monitor or does not need one: an answer, and not the refusal of a command.
            monitorID = nil
            return takeAwaited(message.id) ? .acknowledged : passedOver
        case .reject, .notReadable:
            return takeAwaited(message.id) || message.id == lastID ? .rejected : passedOver
        case .disconnect:
            // Seen from a meter that an earlier program had left (Docs/Protocols/KM003C.md#link); it does not answer
            // any of our requests.
            return passedOver
        case .data:
            isLastDataOurs = takeAsked(message.id)
            if isLastDataOurs, message.payload(.queue)?.isEmpty == false { queue.samplesCame() }
            return isLastDataOurs ? .frame(.km003c(message)) : passedOver
        default:
            // A sample after a queue has no number of its own.
            return isLastDataOurs ? .frame(.km003c(message)) : passedOver
        }
    }

    /// The answer to a control message, if one waits for it.
    private mutating func controlTaken(_ message: KM003CMessage) -> Bool {
        guard takeAwaited(message.id) else { return false }
        if message.id == queueControlID {
            queueControlID = nil
            queue.controlAnswered(isAccepted: message.kind == .accept)
        }
        return true
    }

    /// The event for a message that does not answer any of our requests: its bytes are skipped.
    private var passedOver: MeterEvent {
        .skipped(count: decoder.frameBytes.count, because: .implausibleField(offset: 1))
    }

    /// Takes a request for data that is being answered. Each is answered once, and the meter answers in order, so older
    /// requests will not be answered any more.
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

    /// The rhythm is from Docs/Protocols/KM003C.md#link and Docs/Protocols/KM003C.md#what-becomes-of-the-payloads: the
    /// vendor's program asks about five times a second, a queue should be emptied every 40 to 200 ms, answers arrive in
    /// under 1 ms, and readers wait 2 s for one.
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
