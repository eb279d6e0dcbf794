package import MeterModel

/// Connection slots, and the quiet that an attempt to make a link needs.
///
/// Several attempts may run at once: the kernel makes LE links one after the other by itself. What it does not do is
/// to begin one while a discovery runs, so discovery rests.
extension AdapterMachine {
    /// Who has a slot, and how far the link is.
    struct Slots: Sendable {
        /// Since when each is being made.
        private(set) var attempts: [SlotKey: MonotonicTime] = [:]
        /// Attempts that disturb discovery no more; nobody has ended them.
        private var overdue: Set<SlotKey> = []
        private var up: Set<SlotKey> = []

        var count: Int { attempts.count + overdue.count + up.count }
        /// Of those that are up, a session ends what says nothing for long.
        var hasLinks: Bool { !up.isEmpty }

        func contains(_ link: SlotKey) -> Bool { attempts[link] != nil || overdue.contains(link) || up.contains(link) }

        func count(besides link: SlotKey) -> Int { count - (contains(link) ? 1 : 0) }

        mutating func begin(_ link: SlotKey, at now: MonotonicTime) {
            giveBack(link)
            attempts[link] = now
        }

        mutating func succeed(_ link: SlotKey) {
            giveBack(link)
            up.insert(link)
        }

        mutating func giveBack(_ link: SlotKey) {
            attempts[link] = nil
            overdue.remove(link)
            up.remove(link)
        }

        mutating func expire(_ isOverdue: (MonotonicTime) -> Bool) {
            for (link, since) in attempts where isOverdue(since) {
                attempts[link] = nil
                overdue.insert(link)
            }
        }

        mutating func expireAll() { expire { _ in true } }
    }

    /// A link is about to be attempted.
    ///
    /// - Returns: why not, or nil and what to do.
    package mutating func take(
        _ link: SlotKey, at now: MonotonicTime
    ) -> (refusal: SlotRefusal?, actions: [AdapterAction]) {
        if case .off = phase, let trouble { return (SlotRefusal(isFull: false, message: trouble), []) }
        let others = slots.count(besides: link)
        guard others < linksMax else {
            let message =
                "It has \(others) links open or opening and bears no more. Disconnect another meter, or plug in another"
                + " adapter."
            return (SlotRefusal(isFull: true, message: message), [])
        }
        slots.begin(link, at: now)
        return (nil, finish(at: now))
    }

    /// The attempt was successful. Without a slot that was taken, this means nothing.
    package mutating func linkUp(_ link: SlotKey, at now: MonotonicTime) -> [AdapterAction] {
        guard isLinked(link) else { return [] }
        slots.succeed(link)
        return finish(at: now)
    }

    /// The attempt failed, or the link ended.
    package mutating func giveBack(_ link: SlotKey, at now: MonotonicTime) -> [AdapterAction] {
        slots.giveBack(link)
        return finish(at: now)
    }

    /// An attempt that nobody ended in time disturbs discovery no more, but counts until it is given back.
    mutating func expireAttempts(at now: MonotonicTime) {
        slots.expire { now >= $0 + timing.attemptMax }
    }

    package func isLinked(_ link: SlotKey) -> Bool { slots.contains(link) }

    /// Somebody answers to a pairing for this device only while a link to it is being made or is there.
    package func expectsPairing(with device: RadioAddress) -> Bool {
        isLinked(SlotKey(device.address, isClassic: device.kind == .classic))
    }

    /// Keeps the books of the rest that attempts need.
    mutating func keepQuiet(at now: MonotonicTime) {
        switch quiet {
        case .none:
            if !slots.attempts.isEmpty { quiet = .resting(since: now) }
        case .resting(let since):
            guard slots.attempts.isEmpty || now >= since + pauseMax else { return }
            quiet = slots.attempts.isEmpty ? .none : .breathing(since: now)
        case .breathing(let since):
            if slots.attempts.isEmpty {
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
