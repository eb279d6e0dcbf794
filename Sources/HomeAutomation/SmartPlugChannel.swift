package import Domain
package import MeterCodec

/// Opens links to meters behind the broker. Each has a connection of its own, which costs a thread.
package struct SmartPlugChannelOpener: ChannelOpener {
    private let plugs: [(plug: SmartPlugDescription, broker: MosquittoLink.Settings)]
    private let loop: any SessionLoop
    private let makeLink: @Sendable (MosquittoLink.Settings) -> any BrokerLink
    private let other: any ChannelOpener

    /// - Parameters:
    ///   - plugs: each with settings of its own link to the broker, because client ids must differ.
    ///   - other: opener of all other links in the network.
    package init(
        _ plugs: [(plug: SmartPlugDescription, broker: MosquittoLink.Settings)], on loop: any SessionLoop,
        makeLink: @escaping @Sendable (MosquittoLink.Settings) -> any BrokerLink = { MosquittoLink($0) },
        else other: any ChannelOpener
    ) {
        (self.plugs, self.loop, self.makeLink, self.other) = (plugs, loop, makeLink, other)
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        guard link.stored.hasPrefix(SmartPlugDescription.linkPrefix) else {
            return other.open(link, as: line, handle: handle)
        }
        guard let found = plugs.first(where: { $0.plug.link == link }) else {
            return RefusedChannel(
                ChannelFailure(
                    .unsuitable,
                    "meterd.toml has no [[mqtt.meter]] for \(link.stored) any more. Put it back, or forget the meter."),
                loop: loop, handle)
        }
        return SmartPlugChannel(found.plug, over: makeLink(found.broker), on: loop, handle)
    }
}

/// A meter behind the broker. The handler receives each reading as a line of JSON. Sending any bytes publishes the
/// meter's configured request instead.
final class SmartPlugChannel: ByteChannel, @unchecked Sendable {
    // Unchecked: used only on the loop. The link's thread uses only the queue, which has a lock.

    private let plug: SmartPlugDescription
    private let link: any BrokerLink
    private let loop: any SessionLoop
    private var handle: (@Sendable (ChannelEvent) -> Void)?
    private var machine: SmartPlugMachine?
    private var alarm: Alarm
    private var queue: EventQueue?
    private var lastRequest: PacketNumber = 0

    init(
        _ plug: SmartPlugDescription, over link: any BrokerLink, on loop: any SessionLoop,
        _ handle: @escaping @Sendable (ChannelEvent) -> Void
    ) {
        (self.plug, self.link, self.loop, self.handle) = (plug, link, loop, handle)
        alarm = Alarm(on: loop)
        let queue = EventQueue { [weak self] in
            _ = loop.schedule(at: loop.now) { [weak self] in self?.takeEvents() }
        }
        self.queue = queue
        link.open(will: nil) { queue.add($0, of: 0) }
    }

    var remark: String? { machine?.remark }

    func send(_ bytes: [UInt8]) {
        guard let request = plug.request, !bytes.isEmpty else { return }
        lastRequest += 1
        link.publish([NumberedMessage(lastRequest, request)])
    }

    func close() {
        alarm.cancel()
        link.close()
        (machine, handle) = (nil, nil)
    }

    private func takeEvents() {
        for (_, event) in queue?.take().events ?? [] where handle != nil {
            switch event {
            case .opened:
                machine = SmartPlugMachine(plug, at: loop.now)
                link.subscribe(plug.topics)
                update { _, _ in [] }
            case .received(let message):
                update { machine, now in machine.received(message, at: now, loop.wallNow) }
            case .lost(let trouble):
                fail(.unreachable, [trouble.message, trouble.next].compactMap { $0 }.joined(separator: ": "))
            case .subscriptionRefused(let cause):
                fail(
                    .unsuitable,
                    "the broker refuses to send \(plug.topics.joined(separator: ", ")): \(cause). Allow meterd's user to"
                        + " read them.")
            case .acknowledged(_, let refusal):
                if let refusal {
                    fail(
                        .unsuitable,
                        "the broker refuses \(plug.request?.topic ?? ""): \(refusal). Allow meterd's user to write it.")
                }
            }
        }
    }

    private func update(_ event: (inout SmartPlugMachine, MonotonicTime) -> [SmartPlugMachine.Action]) {
        guard var machine else { return }
        let actions = event(&machine, loop.now)
        self.machine = machine
        for action in actions {
            switch action {
            case .opened: handle?(.opened)
            case .line(let bytes): handle?(.received(bytes))
            case .close(let reason): fail(.unreachable, reason)
            }
        }
        guard handle != nil else { return }
        alarm.set(to: self.machine?.nextWake) { [weak self] in
            self?.alarm.rang()
            self?.update { machine, now in machine.woke(at: now) }
        }
    }

    private func fail(_ code: ChannelFailure.Code, _ message: String) {
        let last = handle
        close()
        last?(.closed(ChannelFailure(code, message)))
    }
}
