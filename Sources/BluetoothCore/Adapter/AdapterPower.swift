import Domain

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

    /// Begins the grace period, in which the adapter stays off. It is limited, because an exiting program may switch
    /// off the adapter it used.
    ///
    /// - Returns: end of the grace period. Nil if it lasts until rfkill releases the adapter.
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
