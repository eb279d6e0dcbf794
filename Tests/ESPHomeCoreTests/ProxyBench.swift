import BluetoothCore
import Domain
import ESPHomeCore
import MeterCodec
import MeterSimulator
import SimulatedPort

/// A proxy's machine in front of a simulated proxy, over virtual time.
struct ProxyBench {
    static let key = (0..<32).map { UInt8($0) }
    static let meter = MACAddress(bits: 0xAA_BB_CC_DD_EE_01)
    static let other = MACAddress(bits: 0xAA_BB_CC_DD_EE_02)

    private(set) var now = MonotonicTime.origin
    var machine: ProxyMachine
    var proxy: SimulatedProxy
    /// Whether the node can be reached.
    var isReachable = true
    private var client: SimulatedProxy.Client?
    private let security: APISecurity
    private var underWay: [SimulatedProxy.Output] = []
    private var isDelivering = false
    /// Whether a link's owner speaks as soon as it hears that the link is up, as a meter's line does.
    var speaksAtOnce = false
    private(set) var events: [ProxyLinkEvent] = []
    private(set) var heard: [MACAddress: Int] = [:]
    private(set) var notes: [ProxyAction] = []

    /// - Parameters:
    ///   - key: what the host knows; nil for plain text.
    ///   - nodeKey: the same of the node.
    init(
        key: [UInt8]? = key, nodeKey: [UInt8]? = key, faults: Set<SimulatedProxy.Fault> = [],
        node: NodeSettings = NodeSettings(host: "garage.local"),
        _ change: (inout SimulatedProxy.Options) -> Void = { _ in }
    ) {
        var options = SimulatedProxy.Options()
        (options.key, options.faults) = (nodeKey, faults)
        change(&options)
        let meters = [Self.meter, Self.other].compactMap { address in
            SimulatorCatalogue.standard.meter(.um25c, over: .ble).map {
                SimulatedRadioMeter($0, address: address, isRandom: address == Self.other, rssi: -61)
            }
        }
        proxy = SimulatedProxy(options, meters: meters)
        machine = ProxyMachine(node)
        security = key.map { .key($0, ephemeral: [UInt8](repeating: 0x11, count: 32)) } ?? .plaintext
    }

    mutating func begin() { perform(machine.begin()) }

    mutating func connect(_ address: MACAddress = meter) {
        let link = RadioLink(address: address, isRandom: address == Self.other, adapter: MACAddress(bits: 1))
        perform(machine.connect(link, at: now))
    }

    mutating func send(_ packet: [UInt8], to address: MACAddress = meter) {
        perform(machine.send(packet, to: address))
    }

    mutating func leave(_ address: MACAddress = meter) { perform(machine.leave(address, at: now)) }

    /// Does several things before anything arrives.
    mutating func atOnce(_ body: (inout ProxyBench) -> Void) {
        isDelivering = true
        body(&self)
        isDelivering = false
        deliver([])
    }

    mutating func demand(_ isSought: Bool) { perform(machine.demandChanged(isSought: isSought)) }

    mutating func farewell() { perform(machine.farewell()) }

    /// Something happens at the proxy.
    mutating func atProxy(_ body: (inout SimulatedProxy) -> [SimulatedProxy.Output]) { deliver(body(&proxy)) }

    /// Another client says something, and what it is told is thrown away.
    mutating func stranger() -> SimulatedProxy.Client {
        let client = proxy.accepted(ephemeral: Self.key)
        let subscribe = SubscribeAdvertisements.made { $0.flags = 1 }.frame
        _ = proxy.received(FrameWriter.plaintext(subscribe), from: client, at: now.sinceOrigin)
        return client
    }

    /// Lets time pass, from one event to the next.
    mutating func run(_ time: Duration) {
        let end = now + time
        for _ in 0..<100_000 {
            let next = [machine.nextWake, proxy.nextDue.map { MonotonicTime.origin + $0 }].compactMap { $0 }.min()
            guard let next, next <= end else { break }
            now = max(now, next)
            deliver(proxy.due(at: now.sinceOrigin))
            perform(machine.woke(at: now))
        }
        now = end
    }

    func state() -> AdapterState { machine.state(at: now) }

    private mutating func perform(_ actions: [ProxyAction]) {
        for action in actions {
            switch action {
            case .open: open()
            case .send(let bytes):
                guard let client else { continue }
                deliver(proxy.received(bytes, from: client, at: now.sinceOrigin))
            case .close:
                if let client { proxy.ended(client) }
                client = nil
            case .heard(let list):
                for one in list { heard[MACAddress(bits: one.address)] = one.rssi }
            case .link(let address, let event):
                events.append(event)
                if speaksAtOnce, case .up = event { send(ATTPDU.readRequest(handle: 3).bytes, to: address) }
            case .noteRetry, .noteRecovered: notes.append(action)
            }
        }
    }

    private mutating func open() {
        guard isReachable else { return perform(machine.closed(.ended("cannot be reached"), at: now)) }
        client = proxy.accepted(ephemeral: [UInt8](repeating: 0x22, count: 32))
        perform(machine.opened(security, at: now))
    }

    /// Bytes arrive in order, in pieces of any length, and after what is being handled.
    private mutating func deliver(_ outputs: [SimulatedProxy.Output]) {
        underWay += outputs
        guard !isDelivering else { return }
        isDelivering = true
        while !underWay.isEmpty {
            switch underWay.removeFirst() {
            case .send(client, let bytes):
                for start in stride(from: 0, to: bytes.count, by: 7) {
                    perform(machine.received(Array(bytes[start..<min(start + 7, bytes.count)]), at: now))
                }
            case .close(client):
                client = nil
                perform(machine.closed(.ended("closed the connection"), at: now))
            case .send, .close: break
            }
        }
        isDelivering = false
    }
}
