import Domain

/// What an adapter is, how it is set, and what has to be changed about that.
struct AdapterSetup: Sendable {
    /// Nil until the adapter has been read.
    private(set) var info: ControllerInfo?
    private(set) var settings: ControllerSettings = []
    /// Opcodes of settings that the adapter or the kernel refused to change; they are not requested again.
    private var refused: Set<UInt16> = []
    private var bondable = BondableSetting()

    var isPowered: Bool { settings.contains(.powered) }

    /// Nil if the adapter has not been read yet, or has no Classic to pair over.
    var isBondable: Bool? {
        guard info != nil, settings.contains(.classic) else { return nil }
        return settings.contains(.bondable)
    }

    /// Whether another program insists on Bondable being off.
    var isBondableContested: Bool { bondable.isContested && lacksBondable }

    // MARK: What the kernel says

    /// A command succeeded.
    ///
    /// - Returns: false if its answer is not a valid one.
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

    /// Settings changed, whoever changed them. Ignored, but for the settings, before the adapter has been read.
    mutating func changed(to new: ControllerSettings, at now: MonotonicTime) -> [AdapterAction] {
        let lost = settings.subtracting(new)
        settings = new
        return info != nil && lost.contains(.bondable) ? bondable.lost(at: now) : []
    }

    /// rfkill keeps it off.
    mutating func blocked() { set(.powered, false) }

    /// Forgets everything about the adapter except that it is there, and what it refused.
    mutating func forget() {
        info = nil
        settings = []
    }

    /// The adapter has to be read again; its settings are known.
    mutating func forgetInfo() { info = nil }

    /// Our agent leaves bluetoothd, which may then switch Bondable off.
    mutating func agentLeaves(at now: MonotonicTime) { bondable.agentLeaves(at: now) }

    private mutating func set(_ setting: ControllerSettings, _ isOn: Bool) {
        if isOn { settings.insert(setting) } else { settings.remove(setting) }
    }

    // MARK: What to change

    /// The next command on the way to an adapter that is as it should be. Nil once it is.
    ///
    /// Changes only what keeps meters from being found: the rest is up to the system's Bluetooth manager.
    mutating func command(for slots: LinkSlots, at now: MonotonicTime) -> ManagementCommand? {
        guard let info else { return .readInfo }
        guard isPowered else { return .setPowered(true) }
        if info.supported.contains(.lowEnergy), !settings.contains(.lowEnergy), mayAsk(.setLowEnergy(true)) {
            return .setLowEnergy(true)
        }
        return bondableCommand(for: slots, at: now)
    }

    /// Requests Bondable if it is off, and it is time.
    mutating func bondableCommand(for slots: LinkSlots, at now: MonotonicTime) -> ManagementCommand? {
        guard needsBondable, bondable.request(lastAttempt: slots.lastClassicAttempt, at: now) else { return nil }
        return .setBondable(true)
    }

    /// When to request Bondable again.
    var bondableTime: MonotonicTime? { needsBondable ? bondable.wakeTime : nil }

    private var needsBondable: Bool { lacksBondable && mayAsk(.setBondable(true)) }

    /// Whether Bondable is off, so that a PIN cannot be asked for and answered.
    private var lacksBondable: Bool {
        settings.isSuperset(of: [.powered, .classic]) && !settings.contains(.bondable)
            && info?.supported.contains(.bondable) == true
    }

    private func mayAsk(_ command: ManagementCommand) -> Bool { !refused.contains(command.opcode) }
}
