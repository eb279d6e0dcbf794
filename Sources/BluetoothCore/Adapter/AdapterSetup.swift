import Domain

struct AdapterSetup: Sendable {
    private(set) var info: ControllerInfo?
    private(set) var settings: ControllerSettings = []
    /// Opcodes of settings whose change was refused. They are not requested again.
    private var refused: Set<UInt16> = []
    private var bondable = BondableSetting()

    var isPowered: Bool { settings.contains(.powered) }

    var isBondable: Bool? {
        guard info != nil, settings.contains(.classic) else { return nil }
        return settings.contains(.bondable)
    }

    var isBondableContested: Bool { bondable.isContested && lacksBondable }

    // MARK: What the kernel says

    /// - Returns: false if the answer is invalid.
    mutating func succeeded(_ command: ManagementCommand, _ answer: [UInt8]) -> Bool {
        switch command {
        case .readInfo:
            guard let info = try? ControllerInfo(answer) else { return false }
            self.info = info
            settings = info.current
        case .setPowered(let isOn): set(.powered, isOn)
        case .setLowEnergy: set(.lowEnergy, true)
        case .setBondable: set(.bondable, true)
        default: break
        }
        return true
    }

    mutating func refused(_ command: ManagementCommand) { refused.insert(command.opcode) }

    mutating func changed(to new: ControllerSettings, at now: MonotonicTime) -> [AdapterAction] {
        let lost = settings.subtracting(new)
        settings = new
        return info != nil && lost.contains(.bondable) ? bondable.lost(at: now) : []
    }

    mutating func blocked() { set(.powered, false) }

    mutating func forget() {
        info = nil
        settings = []
    }

    mutating func forgetInfo() { info = nil }

    mutating func agentLeaves(at now: MonotonicTime) { bondable.agentLeaves(at: now) }

    private mutating func set(_ setting: ControllerSettings, _ isOn: Bool) {
        if isOn { settings.insert(setting) } else { settings.remove(setting) }
    }

    // MARK: What to change

    /// Returns the next command; nil once the setup is complete.
    ///
    /// Changes only settings that keep meters from being found. The system's Bluetooth manager decides the rest.
    mutating func command(for slots: LinkSlots, at now: MonotonicTime) -> ManagementCommand? {
        guard let info else { return .readInfo }
        guard isPowered else { return .setPowered(true) }
        if info.supported.contains(.lowEnergy), !settings.contains(.lowEnergy), mayAsk(.setLowEnergy(true)) {
            return .setLowEnergy(true)
        }
        return bondableCommand(for: slots, at: now)
    }

    mutating func bondableCommand(for slots: LinkSlots, at now: MonotonicTime) -> ManagementCommand? {
        guard needsBondable, bondable.request(lastAttempt: slots.lastClassicAttempt, at: now) else { return nil }
        return .setBondable(true)
    }

    var bondableTime: MonotonicTime? { needsBondable ? bondable.wakeTime : nil }

    private var needsBondable: Bool { lacksBondable && mayAsk(.setBondable(true)) }

    /// Whether Bondable is off, although supported: without it, no program can answer a request for a PIN.
    private var lacksBondable: Bool {
        settings.isSuperset(of: [.powered, .classic]) && !settings.contains(.bondable)
            && info?.supported.contains(.bondable) == true
    }

    private func mayAsk(_ command: ManagementCommand) -> Bool { !refused.contains(command.opcode) }
}
