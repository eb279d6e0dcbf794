import Domain

/// Why an adapter is off, and for how long that is respected.
struct AdapterPower: Sendable {
    private var block: RadioBlock
    /// How long the last switching off was respected, and when that was.
    private var lastOff: (grace: Duration, at: MonotonicTime)?

    /// - Parameter block: what rfkill has said so far.
    init(block: RadioBlock) { self.block = block }

    var isBlocked: Bool { block.isBlocked }

    /// - Returns: whether this is a change.
    mutating func blockChanged(_ new: RadioBlock) -> Bool {
        guard new != block else { return false }
        block = new
        return true
    }

    /// Somebody else or rfkill switched it off. That is respected, but not for ever: a program that ends may switch off
    /// what it used.
    ///
    /// - Returns: until when to leave it off. Nil: until rfkill releases it.
    mutating func respectOff(at now: MonotonicTime, _ timing: AdapterTiming) -> MonotonicTime? {
        guard !block.isBlocked else { return nil }
        var grace = timing.offGrace
        if let lastOff, now < lastOff.at + timing.offGraceMax { grace = min(timing.offGraceMax, lastOff.grace * 2) }
        lastOff = (grace, now)
        return now + grace
    }

    /// Why it is off and what to do about that, for people.
    var trouble: String {
        if block.isHard { return "It is blocked by a switch or by the firmware (rfkill, hard). Switch it on there." }
        if block.isSoft { return "It is blocked (rfkill, soft). Unblock it with 'rfkill unblock bluetooth'." }
        return "Another program or a person switched it off. Switch it on with 'bluetoothctl power on'; after a while"
            + " it is switched on again anyway. To keep it off, block it with 'rfkill block bluetooth'."
    }
}
