package import MeterModel

/// Connection slots, and the quiet that an attempt to make a link needs.
///
/// Several attempts may run at once: the kernel makes LE links one after the other by itself. What it does not do is
/// to begin one while a discovery runs, so discovery rests.
extension AdapterMachine {
    /// A link is about to be attempted.
    ///
    /// - Returns: why not, or nil and what to do.
    package mutating func take(
        _ link: SlotKey, at now: MonotonicTime
    ) -> (refusal: SlotRefusal?, actions: [AdapterAction]) {
        if case .off = phase, let trouble { return (SlotRefusal(isFull: false, message: trouble), []) }
        let others = links.union(attempts.keys).subtracting([link]).count
        guard others < linksMax else {
            let message =
                "It has \(others) links open or opening and bears no more. Disconnect another meter, or plug in another"
                + " adapter."
            return (SlotRefusal(isFull: true, message: message), [])
        }
        links.remove(link)
        attempts[link] = now
        return (nil, finish(at: now))
    }

    /// The attempt was successful. Without a slot that was taken, this means nothing.
    package mutating func linkUp(_ link: SlotKey, at now: MonotonicTime) -> [AdapterAction] {
        guard isLinked(link) else { return [] }
        attempts[link] = nil
        links.insert(link)
        return finish(at: now)
    }

    /// The attempt failed, or the link ended.
    package mutating func giveBack(_ link: SlotKey, at now: MonotonicTime) -> [AdapterAction] {
        attempts[link] = nil
        links.remove(link)
        return finish(at: now)
    }

    /// An attempt that nobody ended in time disturbs discovery no more, but counts until it is given back.
    mutating func expireAttempts(at now: MonotonicTime) {
        for (link, since) in attempts where now >= since + timing.attemptMax {
            attempts[link] = nil
            links.insert(link)
        }
    }

    package func isLinked(_ link: SlotKey) -> Bool { links.contains(link) || attempts[link] != nil }

    /// Somebody answers to a pairing for this device only while a link to it is being made or is there.
    package func expectsPairing(with device: RadioAddress) -> Bool {
        isLinked(SlotKey(device.address, isClassic: device.kind == .classic))
    }

    /// Keeps the books of the rest that attempts need.
    mutating func keepQuiet(at now: MonotonicTime) {
        switch quiet {
        case .none:
            if !attempts.isEmpty { quiet = .resting(since: now) }
        case .resting(let since):
            guard attempts.isEmpty || now >= since + pauseMax else { return }
            quiet = attempts.isEmpty ? .none : .breathing(since: now)
        case .breathing(let since):
            if attempts.isEmpty {
                quiet = .none
            } else if now >= since + timing.breath {
                quiet = .resting(since: now)
            }
        }
    }

    var isResting: Bool {
        if case .resting = quiet { true } else { false }
    }

    private var pauseMax: Duration { air.isShared ? timing.pauseMaxShared : timing.pauseMax }

    /// When that changes by itself.
    var quietTime: MonotonicTime? {
        switch quiet {
        case .none: nil
        case .resting(let since): since + pauseMax
        case .breathing(let since): since + timing.breath
        }
    }
}
