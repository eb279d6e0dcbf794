package import Domain

/// bluetoothd's name for a device: `/org/bluez/hci0/dev_00_15_A5_00_05_92` (BlueZ src/device.c, `device_new`).
package struct AgentDevice: Hashable, Sendable {
    /// Adapter index, the same for the kernel and bluetoothd.
    package var adapter: UInt16
    package var address: MACAddress

    package init(adapter: UInt16, address: MACAddress) {
        self.adapter = adapter
        self.address = address
    }

    package init?(path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "org", parts[2] == "bluez", parts[3].hasPrefix("hci"),
            let adapter = UInt16(parts[3].dropFirst(3)), parts[4].hasPrefix("dev_")
        else { return nil }
        let octets = parts[4].dropFirst(4).split(separator: "_", omittingEmptySubsequences: false)
        guard octets.allSatisfy({ $0.count == 2 }),
            let address = MACAddress(octets.joined(separator: ":"))
        else { return nil }
        self.init(adapter: adapter, address: address)
    }

    package var path: String {
        "/org/bluez/hci\(adapter)/dev_\(address.description.split(separator: ":").joined(separator: "_"))"
    }
}

/// Decides when this program is bluetoothd's agent for PINs, and answers its requests.
///
/// ```
///            bluetoothd comes          a meter needs the agent       answered
///   ┌──────┐────────────────▶┌──────┐─────────────────▶┌─────────────┐──────▶┌────────────┐
///   │ AWAY │                 │ IDLE │                  │ REGISTERING │       │ REQUESTING │
///   └──────┘◀────────────────└──────┘◀──┐ refused      └─────────────┘       └────────────┘
///   bluetoothd leaves, any ▲        └──────────────────┘ │                     │ answered
///                              │      ┌─────────┐ no meter   │               ┌──────────┐
///                              └──────│ LEAVING │◀──────────────────────────│ STANDING │
///                            answered └─────────┘ needs the agent            └──────────┘
/// ```
///
/// Any registered agent that requests it becomes the default. When the default agent unregisters, the previous agent is
/// the default again (BlueZ src/agent.c, `agent_create`, `add_default_agent`, `remove_default_agent`). So this agent is
/// registered only while a Classic link is made to a meter that bluetoothd is not paired with. Otherwise, a desktop's
/// agent receives bluetoothd's requests.
package struct AgentMachine: Sendable {
    private var phase = Phase.away
    private var needs: [AgentDevice: Need] = [:]
    package private(set) var refusal: String?

    private enum Phase: Hashable, Sendable {
        /// The bus is connected, but whether bluetoothd is running is still unknown.
        case connecting
        case away, idle, registering, requesting, standing, leaving
        /// bluetoothd refused the registration. Retried when another meter needs the agent.
        case refused
    }

    private struct Need: Hashable, Sendable {
        /// Whether bluetoothd has a key for the device; nil until it answers.
        var isPaired: Bool?
        var isTold = false
    }

    package enum Action: Hashable, Sendable {
        /// The answer arrives through `paired`.
        case askWhetherPaired(AgentDevice)
        /// Registers the agent. The outcome of this and the next two actions arrives through `registered`,
        /// `becameDefault` and `left`.
        case register
        case requestDefault
        case unregister
        /// The caller may make the link: no further preparation is necessary or possible.
        case proceed(AgentDevice)
    }

    package enum Standing: Hashable, Sendable {
        case noDaemon
        case ready
        case standing
        case refused
    }

    /// Request of bluetoothd to an agent (BlueZ doc/agent-api.txt).
    package enum Request: Hashable, Sendable {
        case pinCode(AgentDevice?)
        case confirmation(AgentDevice?)
        case release
        case cancel
        case other
    }

    package enum Answer: Hashable, Sendable {
        case pin
        case agreed
        /// `org.bluez.Error.Rejected`.
        case rejected
    }

    package init() {}

    package var standing: Standing {
        switch phase {
        case .away, .connecting: .noDaemon
        case .standing: .standing
        case .refused: .refused
        case .idle, .registering, .requesting, .leaving: refusal == nil ? .ready : .refused
        }
    }

    /// Returns whether bluetoothd would now request this device's PIN from this program.
    package func answers(for device: AgentDevice) -> Bool {
        phase == .standing && needs[device]?.isPaired == false
    }

    // MARK: Events

    /// Records that the bus is connected. `daemonAppeared` or `daemonVanished` follows soon.
    package mutating func busOpened() { phase = .connecting }

    package mutating func daemonAppeared() -> [Action] {
        phase = .idle
        refusal = nil
        let unknown = needs.keys.filter { needs[$0]?.isTold == false }.sorted { $0.path < $1.path }
        return unknown.map { .askWhetherPaired($0) } + advance()
    }

    package mutating func daemonVanished() -> [Action] {
        phase = .away
        return proceedAll()
    }

    package mutating func begin(_ device: AgentDevice) -> [Action] {
        needs[device] = Need()
        switch phase {
        case .away: return proceedAll()
        case .connecting: return []
        default: return [.askWhetherPaired(device)]
        }
    }

    package mutating func end(_ device: AgentDevice) -> [Action] {
        guard needs.removeValue(forKey: device) != nil else { return [] }
        return advance()
    }

    /// - Parameter isPaired: false also if the device is unknown to bluetoothd.
    package mutating func paired(_ device: AgentDevice, _ isPaired: Bool) -> [Action] {
        guard needs[device] != nil else { return [] }
        needs[device]?.isPaired = isPaired
        if phase == .refused { phase = .idle }
        return advance()
    }

    package mutating func registered(error: String?) -> [Action] {
        guard phase == .registering else { return [] }
        if let error { return refused(error) }
        phase = .requesting
        return [.requestDefault]
    }

    package mutating func becameDefault(error: String?) -> [Action] {
        guard phase == .requesting else { return [] }
        if let error { return refused(error) }
        refusal = nil
        phase = .standing
        return advance()
    }

    package mutating func left() -> [Action] {
        guard phase == .leaving else { return [] }
        phase = .idle
        return advance()
    }

    private mutating func refused(_ error: String) -> [Action] {
        refusal = error
        phase = .refused
        return proceedAll()
    }

    /// Rejects requests that do not concern a meter whose link is being made.
    package func answer(_ request: Request) -> Answer {
        switch request {
        case .pinCode(let device?) where needs[device] != nil: return .pin
        case .confirmation(let device?) where needs[device] != nil: return .agreed
        case .release, .cancel: return .agreed
        case .pinCode, .confirmation, .other: return .rejected
        }
    }

    // MARK: Consequences

    private mutating func advance() -> [Action] {
        let isWanted = needs.values.contains { $0.isPaired == false }
        switch phase {
        case .away: return proceedAll()
        case .idle where isWanted:
            phase = .registering
            return proceed { $0.isPaired == true } + [.register]
        case .standing where !isWanted:
            phase = .leaving
            return proceed { $0.isPaired == true } + [.unregister]
        case .standing: return proceed { $0.isPaired != nil }
        case .connecting, .idle, .registering, .requesting, .leaving: return proceed { $0.isPaired == true }
        case .refused: return proceedAll()
        }
    }

    private mutating func proceedAll() -> [Action] { proceed { _ in true } }

    private mutating func proceed(_ condition: (Need) -> Bool) -> [Action] {
        let ready = needs.filter { !$0.value.isTold && condition($0.value) }.keys.sorted { $0.path < $1.path }
        for device in ready { needs[device]?.isTold = true }
        return ready.map { .proceed($0) }
    }
}
