package import Domain

/// A device by bluetoothd's name for it: `/org/bluez/hci0/dev_00_15_A5_00_05_92` (BlueZ src/device.c, `device_new`).
package struct AgentDevice: Hashable, Sendable {
    /// The kernel's number of the adapter, which bluetoothd uses in its names as well.
    package var adapter: UInt16
    package var address: MACAddress

    package init(adapter: UInt16, address: MACAddress) {
        self.adapter = adapter
        self.address = address
    }

    /// - Returns: nil if the path is another object's.
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

/// Decides when this program is the agent that bluetoothd asks for PINs, and what it answers.
///
/// ```
///            bluetoothd comes            a meter needs it            answered
///   ┌──────┐────────────────▶┌──────┐─────────────────▶┌─────────────┐──────▶┌────────────┐
///   │ AWAY │                 │ IDLE │                  │ REGISTERING │       │ REQUESTING │
///   └──────┘◀────────────────└──────┘◀──┐ refused      └─────────────┘       └────────────┘
///            it goes, from any ▲        └──────────────────┘ │                     │ answered
///                              │      ┌─────────┐  nobody    │               ┌──────────┐
///                              └──────│ LEAVING │◀──────────────────────────│ STANDING │
///                            answered └─────────┘  needs it any more         └──────────┘
/// ```
///
/// The first agent registered is the default, and any that asks becomes the default; when it leaves, the previous one
/// is asked again (BlueZ src/agent.c, `agent_create`, `add_default_agent`, `remove_default_agent`). So this agent is
/// registered only while a Classic link is made to a meter that bluetoothd is not paired with: at all other times a
/// desktop's agent is asked.
package struct AgentMachine: Sendable {
    private var phase = Phase.away
    private var needs: [AgentDevice: Need] = [:]
    /// Why bluetoothd last refused our agent.
    package private(set) var refusal: String?

    private enum Phase: Hashable, Sendable {
        /// The bus is connected, but has not said yet whether bluetoothd is there.
        case connecting
        case away, idle, registering, requesting, standing, leaving
        /// Not tried again until the next meter needs it.
        case refused
    }

    private struct Need: Hashable, Sendable {
        /// Whether bluetoothd has a key for the device, once it has said so.
        var isPaired: Bool?
        /// Whether the caller was told to go on.
        var isTold = false
    }

    package enum Action: Hashable, Sendable {
        /// The answer comes back through `paired`.
        case askWhetherPaired(AgentDevice)
        /// The outcome comes back through `registered`, `becameDefault` and `left`.
        case register
        case requestDefault
        case unregister
        /// All that can be done for this link is done: make it.
        case proceed(AgentDevice)
    }

    /// The agent's state, for people.
    package enum Standing: Hashable, Sendable {
        case noDaemon
        case ready
        case standing
        case refused
    }

    /// A request that bluetoothd makes to an agent (BlueZ doc/agent-api.txt).
    package enum Request: Hashable, Sendable {
        case pinCode(AgentDevice?)
        case confirmation(AgentDevice?)
        case release
        case cancel
        case other
    }

    package enum Answer: Hashable, Sendable {
        /// The PIN of meters.
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

    /// Whether bluetoothd asks us for this device's PIN now, so that nobody else has to answer.
    package func answers(for device: AgentDevice) -> Bool {
        phase == .standing && needs[device]?.isPaired == false
    }

    // MARK: Events

    /// `daemonAppeared` or `daemonVanished` follows soon.
    package mutating func busOpened() { phase = .connecting }

    package mutating func daemonAppeared() -> [Action] {
        phase = .idle
        refusal = nil
        // A new bluetoothd knows nothing of what its predecessor was asked.
        let unknown = needs.keys.filter { needs[$0]?.isTold == false }.sorted { $0.path < $1.path }
        return unknown.map { .askWhetherPaired($0) } + advance()
    }

    /// It is gone, or said that it will not ask us any more (`Release`).
    package mutating func daemonVanished() -> [Action] {
        phase = .away
        return proceedAll()
    }

    /// A Classic link to this device is about to be made.
    package mutating func begin(_ device: AgentDevice) -> [Action] {
        needs[device] = Need()
        switch phase {
        case .away: return proceedAll()
        case .connecting: return []
        default: return [.askWhetherPaired(device)]
        }
    }

    /// The link is up, or its attempt failed.
    package mutating func end(_ device: AgentDevice) -> [Action] {
        guard needs.removeValue(forKey: device) != nil else { return [] }
        return advance()
    }

    /// - Parameter isPaired: false also if bluetoothd does not know the device.
    package mutating func paired(_ device: AgentDevice, _ isPaired: Bool) -> [Action] {
        guard needs[device] != nil else { return [] }
        needs[device]?.isPaired = isPaired
        if phase == .refused { phase = .idle }
        return advance()
    }

    /// - Parameter error: bluetoothd's objection, if any.
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

    /// Answers a request from bluetoothd if it concerns a meter to which a link is being made. All others are rejected.
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
