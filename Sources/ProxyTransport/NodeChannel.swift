package import Domain
package import ESPHomeCore
package import LinuxIO

package struct NodeMeterSettings: Hashable, Sendable {
    package var node: NodeSettings
    /// Object ids of the sensors that the user chose, by quantity. An empty id omits the quantity.
    package var sensors: [Quantity: String]
    /// Maximum age of a sensor's value in a measurement.
    package var maxAge: Duration

    /// Default maximum age: one and a half times the default interval of ESPHome's components (60 s).
    package static let maxAgeDefault = Duration.seconds(90)

    package init(_ node: NodeSettings, sensors: [Quantity: String] = [:], maxAge: Duration = maxAgeDefault) {
        (self.node, self.sensors, self.maxAge) = (node, sensors, maxAge)
    }
}

package struct NodeChannelOpener: ChannelOpener {
    private let boards: [NodeMeterSettings]
    private let loop: IOLoop
    private let makeRNG: @Sendable () -> any RandomNumberGenerator

    package init(
        _ boards: [NodeMeterSettings], on loop: IOLoop,
        makeRNG: @escaping @Sendable () -> any RandomNumberGenerator
    ) {
        (self.boards, self.loop, self.makeRNG) = (boards, loop, makeRNG)
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        let host = link.stored
        guard let board = boards.first(where: { $0.node.display == host }) else {
            return RefusedChannel(
                ChannelFailure(
                    .unsuitable,
                    "meterd.toml has no [[esphome.meter]] for \(host) any more. Put it back, or forget the meter."),
                loop: loop, handle)
        }
        return NodeChannel(board, on: loop, makeRNG: makeRNG, handle)
    }
}

/// A link to an ESPHome node. Its handler receives each measurement as a line of JSON.
final class NodeChannel: ByteChannel, @unchecked Sendable {
    // Used only on the loop, so `@unchecked Sendable` is safe.

    private let settings: NodeMeterSettings
    private let loop: IOLoop
    private let makeRNG: @Sendable () -> any RandomNumberGenerator
    private var handle: (@Sendable (ChannelEvent) -> Void)?
    private var connection: DescriptorChannel?
    private var machine: NodeMeter?
    private var alarm: Alarm

    init(
        _ settings: NodeMeterSettings, on loop: IOLoop, makeRNG: @escaping @Sendable () -> any RandomNumberGenerator,
        _ handle: @escaping @Sendable (ChannelEvent) -> Void
    ) {
        (self.settings, self.loop, self.makeRNG, self.handle) = (settings, loop, makeRNG, handle)
        alarm = Alarm(on: loop)
        let link = TCPLink(host: settings.node.host, port: settings.node.port)
        connection = DescriptorChannel.open(link, on: loop) { [weak self] in self?.happened($0) }
    }

    /// Ignores the bytes, because a node accepts none.
    func send(_ bytes: [UInt8]) {}

    var remark: String? { machine?.remark }

    func close() {
        if let words = machine?.farewell(), !words.isEmpty { connection?.send(words) }
        end()
    }

    private func end() {
        alarm.cancel()
        connection?.close()
        (connection, machine, handle) = (nil, nil, nil)
    }

    private func happened(_ event: ChannelEvent) {
        switch event {
        case .opened:
            do throws(APIFault) {
                machine = NodeMeter(
                    settings.node, names: settings.sensors, maxAge: settings.maxAge,
                    try settings.node.security(makeRNG()), at: loop.now)
                update { machine, now in machine.begin(at: now) }
            } catch {
                fail(error)
            }
        case .received(let bytes): update { machine, now in machine.received(bytes, at: now) }
        case .closed(let failure):
            connection = nil
            fail(.ended(failure.code == .stalled ? "takes no bytes" : failure.message))
        }
    }

    private func update(_ event: (inout NodeMeter, MonotonicTime) -> [NodeMeterAction]) {
        guard var machine else { return }
        let actions = event(&machine, loop.now)
        self.machine = machine
        for action in actions {
            switch action {
            case .send(let bytes): connection?.send(bytes)
            case .opened: handle?(.opened)
            case .line(let bytes): handle?(.received(bytes))
            case .close(let fault): fail(fault)
            }
        }
        alarm.set(to: self.machine?.nextWake) { [weak self] in self?.woke() }
    }

    private func woke() {
        alarm.rang()
        update { machine, now in machine.woke(at: now) }
    }

    private func fail(_ fault: APIFault) {
        let last = handle
        let words = fault.words(of: settings.node)
        end()
        last?(.closed(ChannelFailure(fault.needsAPerson ? .unsuitable : .unreachable, words)))
    }
}
