import Domain

/// Reason why an adapter is off, and how long this program leaves it off.
struct AdapterPower: Sendable {
    private var block: RadioBlock
    private var lastOff: (grace: Duration, at: MonotonicTime)?

    init(block: RadioBlock) { self.block = block }

    var isBlocked: Bool { block.isBlocked }

    mutating func blockChanged(_ new: RadioBlock) -> Bool {
        guard new != block else { return false }
        block = new
        return true
    }

    /// Starts a grace period after another program, a person or rfkill switched the adapter off. The period is limited,
    /// because a program that exits may switch off the adapter it used.
    ///
    /// - Returns: end of the grace period. Nil if the period lasts until rfkill releases the adapter.
    mutating func respectOff(at now: MonotonicTime, _ timing: AdapterTiming) -> MonotonicTime? {
        guard !block.isBlocked else { return nil }
        var grace = timing.offGrace
        if let lastOff, now < lastOff.at + timing.offGraceMax { grace = min(timing.offGraceMax, lastOff.grace * 2) }
        lastOff = (grace, now)
        return now + grace
    }

    var trouble: String {
        if block.isHard { return "It is blocked by a switch or by the firmware (rfkill, hard). Switch it on there." }
        if block.isSoft { return "It is blocked (rfkill, soft). Unblock it with 'rfkill unblock bluetooth'." }
        return "Another program or a person switched it off. Switch it on with 'bluetoothctl power on'; after a while"
            + " it is switched on again anyway. To keep it off, block it with 'rfkill block bluetooth'."
    }
}
