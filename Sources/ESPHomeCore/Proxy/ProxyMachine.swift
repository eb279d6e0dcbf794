package import BluetoothCore
package import Domain

package enum ProxyAction: Hashable, Sendable {
    /// Connect; report `opened` or `closed`.
    case open
    /// Send the bytes before performing the other actions, which may immediately send the next frame. Encrypted frames
    /// are valid only in the order of encryption.
    case send([UInt8])
    case close
    case heard([ProtoMessage<RawAdvertisement>])
    case link(MACAddress, ProxyLinkEvent)
    case noteRetry(because: String)
    case noteRecovered

    fileprivate var isSend: Bool { if case .send = self { true } else { false } }
}

/// Keeps one Bluetooth proxy, a remote adapter of this host, connected and scanning.
///
/// ```
///  ┌─────────┐       ┌─────────┐  up   ┌──────────┐ told  ┌─────────────┐ answered  ┌─────────┐
///  │ WAITING │──────▶│ OPENING │──────▶│ GREETING │──────▶│ SUBSCRIBING │──────────▶│ RUNNING │
///  └─────────┘       └─────────┘       └──────────┘       └─────────────┘           └─────────┘
///     ▲                   │                 │       silent │   ▲ again      ▲            │
///     │                   │                 │              ▼   │            │ answered   │
///     │                   │                 │          ┌──────────┐─────────┘            │
///     └──── lost, refused ┴─────────────────┴──────────│  TAKEN   │──────────────────────┘
///                                                      └──────────┘
/// ```
///
/// A proxy has one subscriber, which gets the Bluetooth answers of all clients, and silently ignores a second. So links
/// are made only after the answer to a subscription, and never in TAKEN (another client is the subscriber). Performs no
/// I/O and reads no clock.
package struct ProxyMachine: Sendable {
    package let node: NodeSettings
    private let timing: NodeTiming
    private var phase = Phase.off
    private var until: MonotonicTime?
    private var attempts = 0
    private var session: APISession?
    private var links: ProxyLinks
    package private(set) var info: ProxyInfo?
    private var scanner: ProtoMessage<ScannerState>?
    private var askedMode: UInt32?
    private var isSought = false
    private var failure: Failure?
    /// Number of connection attempts after a failed or ended connection.
    package private(set) var recoveries = 0

    private enum Phase: Sendable { case off, waiting, opening, greeting, subscribing, taken, running }

    private struct Failure: Sendable {
        var fault: APIFault
        var since: MonotonicTime
        var count = 0
    }

    package init(_ node: NodeSettings, timing: NodeTiming = NodeTiming()) {
        self.node = node
        self.timing = timing
        links = ProxyLinks(timing: timing)
    }

    // MARK: Reports

    package func state(at now: MonotonicTime) -> AdapterState {
        switch phase {
        case .taken: return .failed
        case .running: return scanner?.state == ScannerState.failed ? .failed : isScanning ? .searching : .idle
        case .off, .waiting, .opening, .greeting, .subscribing:
            guard let failure else { return .starting }
            return failure.fault.needsAPerson || now >= failure.since + timing.patience ? .failed : .recovering
        }
    }

    package var trouble: String? {
        switch phase {
        case .taken,
            .subscribing where attempts > 1:
            return
                "Another client, probably Home Assistant, has the Bluetooth proxy of \(node.display). Give meterd a proxy"
                + " of its own, or take this one out of the other program. meterd asks again every minute."
        case .running:
            if scanner?.state == ScannerState.failed {
                return "The radio of \(node.display) cannot search. Restart it: switch it off and on."
            }
            guard let info, !info.makesLinks else { return nil }
            return "\(node.display) only listens: set active: true under bluetooth_proxy: in its ESPHome configuration."
        case .off, .waiting, .opening, .greeting, .subscribing: return failure?.fault.words(of: node)
        }
    }

    package var isScanning: Bool {
        // Old firmware does not report its scanner's state, but always scans.
        phase == .running && scanner.map { $0.state == ScannerState.running } ?? true
    }

    package var isRunning: Bool { phase == .running }
    package var linkCount: Int { links.count }
    package var linkLimit: Int? { links.limit }
    package func isLinked(_ address: MACAddress) -> Bool { links.contains(address) }

    // MARK: The connection

    package mutating func begin() -> [ProxyAction] {
        enter(.opening)
        return [.open]
    }

    private mutating func enter(_ phase: Phase, until: MonotonicTime? = nil) {
        (self.phase, self.until) = (phase, until)
    }

    package mutating func opened(_ security: APISecurity, at now: MonotonicTime) -> [ProxyAction] {
        guard phase == .opening else { return [] }
        enter(.greeting)
        (scanner, askedMode, attempts) = (nil, nil, 0)
        session = APISession(node, timing, security, at: now)
        return happened(at: now) { session throws(APIFault) in try session.begin() }
    }

    package mutating func received(_ bytes: [UInt8], at now: MonotonicTime) -> [ProxyAction] {
        happened(at: now) { session throws(APIFault) in try session.received(bytes, at: now) }
    }

    private mutating func happened(
        at now: MonotonicTime, _ what: (inout APISession) throws(APIFault) -> [APISession.Event]
    ) -> [ProxyAction] {
        guard var session else { return [] }
        do throws(APIFault) {
            let events = try what(&session)
            self.session = session
            return inTurn(try handle(events, at: now))
        } catch {
            return fail(error, at: now)
        }
    }

    package mutating func closed(_ fault: APIFault, at now: MonotonicTime) -> [ProxyAction] {
        phase == .off ? [] : fail(fault, at: now)
    }

    /// Restores the proxy's own scan mode and closes the connection.
    package mutating func farewell() -> [ProxyAction] {
        var actions: [ProxyAction] = []
        if phase == .running, let askedMode, let scanner, askedMode != scanner.configuredMode {
            actions.append(send(SetScannerMode.made { $0.mode = scanner.configuredMode }.frame))
        }
        if session != nil { actions += [send(EmptyMessage.disconnectRequest), .close] }
        enter(.off)
        session = nil
        return actions + tell(links.proxyLost())
    }

    private mutating func fail(_ fault: APIFault, at now: MonotonicTime) -> [ProxyAction] {
        var failure = failure ?? Failure(fault: fault, since: now)
        failure.fault = fault
        let pause = timing.retry.first * (1 << min(failure.count, 10))
        failure.count += 1
        self.failure = failure
        let longest = fault.needsAPerson ? timing.retry.longest : min(pause, timing.retry.longest)
        enter(.waiting, until: now + longest)
        session = nil
        return [.close] + tell(links.proxyLost())
    }

    // MARK: Links

    package func refusal(of address: MACAddress) -> SlotRefusal? {
        guard phase == .running else {
            return SlotRefusal(isFull: false, message: trouble ?? "meterd is still connecting to \(node.display).")
        }
        guard info?.makesLinks == true else { return SlotRefusal(isFull: false, message: trouble ?? "") }
        guard links.free > 0 || links.contains(address) else {
            let limit = links.limit ?? 0
            return SlotRefusal(
                isFull: true,
                message: "All \(limit) slots of \(node.display) are in use. Disconnect another meter, or add a proxy.")
        }
        return nil
    }

    package mutating func connect(_ link: RadioLink, at now: MonotonicTime) -> [ProxyAction] {
        inTurn(tell(links.connect(link.address, isRandom: link.isRandom, at: now)))
    }

    package mutating func send(_ packet: [UInt8], to address: MACAddress) -> [ProxyAction] {
        inTurn(tell(links.send(packet, to: address)))
    }

    package mutating func leave(_ address: MACAddress, at now: MonotonicTime) -> [ProxyAction] {
        inTurn(tell(links.leave(address, at: now)))
    }

    // MARK: Search

    /// - Parameter isSought: whether a meter is missing, or a user is searching. The proxy then scans actively, because
    ///   only an active scan receives names.
    package mutating func demandChanged(isSought: Bool) -> [ProxyAction] {
        self.isSought = isSought
        return setMode()
    }

    private mutating func setMode() -> [ProxyAction] {
        guard phase == .running, let scanner, scanner.configuredMode != ScannerState.active else { return [] }
        let wanted = isSought ? ScannerState.active : scanner.configuredMode
        guard wanted != askedMode ?? scanner.mode else { return [] }
        askedMode = wanted
        return [send(SetScannerMode.made { $0.mode = wanted }.frame)]
    }

    // MARK: Time

    package mutating func woke(at now: MonotonicTime) -> [ProxyAction] {
        let isOver = until.map { now >= $0 } == true
        switch phase {
        case .waiting where isOver:
            enter(.opening)
            recoveries += 1
            // Report once for each outage, because a proxy may be unreachable for weeks.
            guard let failure, failure.count == 1 else { return [.open] }
            return [.noteRetry(because: failure.fault.words(of: node)), .open]
        case .subscribing where isOver:
            enter(.taken, until: now + (attempts == 1 ? timing.subscribeAgain.first : timing.subscribeAgain.later))
        case .taken where isOver: return subscribe(at: now)
        case .off, .waiting, .opening, .greeting, .subscribing, .taken, .running: break
        }
        let actions = happened(at: now) { session throws(APIFault) in try session.woke(at: now) }
        return session == nil ? actions : inTurn(actions + tell(links.woke(at: now)))
    }

    package var nextWake: MonotonicTime? {
        [until, session?.nextWake, session == nil ? nil : links.nextWake].compactMap { $0 }.min()
    }

    // MARK: Messages

    private mutating func handle(_ events: [APISession.Event], at now: MonotonicTime) throws(APIFault) -> [ProxyAction]
    {
        var actions: [ProxyAction] = []
        for event in events {
            switch event {
            case .bytes(let bytes): actions.append(.send(bytes))
            case .send(let frame): actions.append(send(frame))
            case .told(let message):
                info = try ProxyInfo(message, of: node)
                actions += subscribe(at: now)
            case .message(let frame): actions += try take(frame, at: now)
            case .ended(let fault): actions += fail(fault, at: now)
            }
        }
        return actions
    }

    private mutating func take(_ frame: APIFrame, at now: MonotonicTime) throws(APIFault) -> [ProxyAction] {
        switch frame.id {
        case ScannerState.id:
            scanner = try frame.read(ScannerState.self)
            return landed() + setMode()
        case RawAdvertisements.id:
            guard let list = try frame.read(RawAdvertisements.self).list else {
                throw .malformed("an advertisement cannot be read")
            }
            return landed() + [.heard(list)]
        default:
            // A proxy also sends slot reports while another client is its subscriber.
            return tell(links.received(frame, at: now))
        }
    }

    private mutating func subscribe(at now: MonotonicTime) -> [ProxyAction] {
        attempts += 1
        enter(.subscribing, until: now + timing.subscription)
        return [send(SubscribeAdvertisements.made { $0.flags = 1 }.frame)]
    }

    private mutating func landed() -> [ProxyAction] {
        guard phase == .subscribing || phase == .taken else { return [] }
        enter(.running)
        defer { failure = nil }
        let again: [ProxyAction] = failure == nil ? [] : [.noteRecovered]
        return again + [send(EmptyMessage.subscribeConnectionsFree)]
    }

    private func inTurn(_ actions: [ProxyAction]) -> [ProxyAction] {
        actions.count < 2 ? actions : actions.filter(\.isSend) + actions.filter { !$0.isSend }
    }

    private mutating func send(_ frame: APIFrame) -> ProxyAction { .send(session?.seal(frame) ?? []) }

    private mutating func tell(_ outputs: [ProxyLinks.Output]) -> [ProxyAction] {
        outputs.map { output in
            switch output {
            case .send(let frame): send(frame)
            case .tell(let address, let event): .link(address, event)
            }
        }
    }
}
