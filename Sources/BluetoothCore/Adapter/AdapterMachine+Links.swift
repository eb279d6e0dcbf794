package import MeterModel

/// Connection slots, and the pause in discovery that an attempt to make a link needs.
///
/// Several attempts may run at once: the kernel makes LE links one after the other by itself. But it does not begin one
/// during a discovery, so discovery rests.
extension AdapterMachine {
    /// Which links have a slot, and how far along they are.
    struct Slots: Sendable {
        /// Attempts under way, with the time they began.
        private(set) var attempts: [SlotKey: MonotonicTime] = [:]
        /// Attempts that nobody ended in time. They no longer disturb discovery.
        private var overdue: Set<SlotKey> = []
        private var up: Set<SlotKey> = []

        var count: Int { attempts.count + overdue.count + up.count }
        /// A session ends any of these links that is silent for long.
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
    /// - Returns: the refusal, or nil and what to do.
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

    /// The attempt succeeded. Ignored for a link without a slot.
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

    /// An attempt that nobody ended in time no longer disturbs discovery, but counts until its slot is given back.
    mutating func expireAttempts(at now: MonotonicTime) {
        slots.expire { now >= $0 + timing.attemptMax }
    }

    package func isLinked(_ link: SlotKey) -> Bool { slots.contains(link) }

    /// Whether a pairing with this device is expected, which it is only while a link to it is up or being made.
    package func expectsPairing(with device: RadioAddress) -> Bool {
        isLinked(SlotKey(device.address, isClassic: device.kind == .classic))
    }

    /// Updates whether discovery rests for attempts.
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

    /// When that changes without an event.
    var quietTime: MonotonicTime? {
        switch quiet {
        case .none: nil
        case .resting(let since): since + pauseMax
        case .breathing(let since): since + timing.breath
        }
    }
}
