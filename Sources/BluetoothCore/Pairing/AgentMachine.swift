package import MeterModel

/// A device as bluetoothd names it: `/org/bluez/hci0/dev_00_15_A5_00_05_92` (BlueZ src/device.c, `device_new`).
package struct AgentDevice: Hashable, Sendable {
    /// The kernel's number of the adapter, which bluetoothd has in its names as well.
    package var adapter: UInt16
    package var address: MACAddress

    package init(adapter: UInt16, address: MACAddress) {
        self.adapter = adapter
        self.address = address
    }

    /// - Returns: nil for any other object.
    package init?(path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "org", parts[2] == "bluez", parts[3].hasPrefix("hci"),
            let adapter = UInt16(parts[3].dropFirst(3)), parts[4].hasPrefix("dev_")
        else { return nil }
        let octets = parts[4].dropFirst(4).split(separator: "_", omittingEmptySubsequences: false)
        guard octets.count == 6, octets.allSatisfy({ $0.count == 2 }),
            let address = MACAddress(octets.joined(separator: ":"))
        else { return nil }
        self.init(adapter: adapter, address: address)
    }

    package var path: String {
        "/org/bluez/hci\(adapter)/dev_\(address.description.split(separator: ":").joined(separator: "_"))"
    }
}

/// Decides when bluetoothd has this program as the agent that it asks for PINs, and what it is answered.
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
/// The first agent that is registered is the default one, and one that asks becomes it; when it leaves, the one before it
/// is asked again (BlueZ src/agent.c, `agent_create`, `add_default_agent`, `remove_default_agent`). So it stands only while
/// a Classic link is made to a meter that bluetoothd is not paired with: a desktop's agent is asked at all other times.
package struct AgentMachine: Sendable {
    private var phase = Phase.away
    private var needs: [AgentDevice: Need] = [:]
    /// Why bluetoothd would not have us as an agent, the last time.
    package private(set) var refusal: String?

    private enum Phase: Hashable, Sendable {
        /// The bus is there, and has not said yet whether bluetoothd is.
        case connecting
        case away, idle, registering, requesting, standing, leaving
        /// Not tried again before the next meter needs it.
        case refused
    }

    private struct Need: Hashable, Sendable {
        /// bluetoothd has a key of the device; nil means it was not said yet.
        var isPaired: Bool?
        /// The caller was told that it may go on.
        var isTold = false
    }

    package enum Action: Hashable, Sendable {
        /// Tells by `paired` what bluetoothd says.
        case askWhetherPaired(AgentDevice)
        /// Tells by `registered`, `becameDefault` and `left` what came of it.
        case register
        case requestDefault
        case unregister
        /// All that can be done for this link is done: it may be made.
        case proceed(AgentDevice)
    }

    /// How it stands, for people.
    package enum Standing: Hashable, Sendable {
        case noDaemon
        case ready
        case standing
        case refused
    }

    /// What bluetoothd asks of an agent (BlueZ doc/agent-api.txt).
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

    /// bluetoothd asks us for PINs just now, so that nobody else has to answer for it.
    package func answers(for device: AgentDevice) -> Bool {
        phase == .standing && needs[device]?.isPaired == false
    }

    // MARK: What happens

    /// Tells soon by `daemonAppeared` or `daemonVanished` how things are.
    package mutating func busOpened() { phase = .connecting }

    package mutating func daemonAppeared() -> [Action] {
        phase = .idle
        refusal = nil
        // One that came anew knows nothing of what its predecessor was asked.
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

    /// The link is up, or nothing came of it.
    package mutating func end(_ device: AgentDevice) -> [Action] {
        guard needs.removeValue(forKey: device) != nil else { return [] }
        return advance()
    }

    /// - Parameter isPaired: false also where bluetoothd does not know the device.
    package mutating func paired(_ device: AgentDevice, _ isPaired: Bool) -> [Action] {
        guard needs[device] != nil else { return [] }
        needs[device]?.isPaired = isPaired
        if phase == .refused { phase = .idle }
        return advance()
    }

    /// - Parameter error: what bluetoothd says against it, nil where it agrees.
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

    /// What bluetoothd asks, answered for meters that a link is being made to and for nobody else.
    package func answer(_ request: Request) -> Answer {
        switch request {
        case .pinCode(let device?) where needs[device] != nil: return .pin
        case .confirmation(let device?) where needs[device] != nil: return .agreed
        case .release, .cancel: return .agreed
        case .pinCode, .confirmation, .other: return .rejected
        }
    }

    // MARK: What follows

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
