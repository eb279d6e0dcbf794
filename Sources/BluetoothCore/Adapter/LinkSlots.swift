import Domain

/// Which links have a slot, how far along they are, and what other links the kernel reports.
struct LinkSlots: Sendable {
    private let linksMax: Int
    /// Attempts under way, with the time they began.
    private var attempts: [SlotKey: MonotonicTime] = [:]
    /// Attempts that nobody ended in time. They no longer disturb discovery.
    private var overdue: Set<SlotKey> = []
    private var up: Set<SlotKey> = []
    /// Links of this and other programs, as reported by the kernel.
    private var connected: Set<RadioAddress> = []

    init(linksMax: Int) { self.linksMax = linksMax }

    /// Number of links that are open or opening.
    var count: Int { attempts.count + overdue.count + up.count }
    var hasAttempts: Bool { !attempts.isEmpty }
    /// Whether a link of ours is up. A session ends any of these that is silent for long.
    var hasOwnLinks: Bool { !up.isEmpty }
    /// Whether there are links of this or another program, which an inquiry or a remedy would disturb.
    var hasLinks: Bool { hasOwnLinks || !connected.isEmpty }
    /// When the newest attempt to make a Classic link began.
    var lastClassicAttempt: MonotonicTime? { attempts.lazy.filter(\.key.isClassic).map(\.value).max() }

    func contains(_ link: SlotKey) -> Bool { attempts[link] != nil || overdue.contains(link) || up.contains(link) }

    // MARK: Our links

    /// - Returns: the refusal. Nil if the link has a slot, and its attempt has begun.
    mutating func begin(_ link: SlotKey, at now: MonotonicTime) -> SlotRefusal? {
        let others = count - (contains(link) ? 1 : 0)
        guard others < linksMax else {
            return SlotRefusal(
                isFull: true,
                message:
                    "It has \(others) links open or opening and bears no more. Disconnect another meter, or plug in"
                    + " another adapter.")
        }
        giveBack(link)
        attempts[link] = now
        return nil
    }

    /// - Returns: false for a link without a slot.
    mutating func succeed(_ link: SlotKey) -> Bool {
        guard contains(link) else { return false }
        giveBack(link)
        up.insert(link)
        return true
    }

    mutating func giveBack(_ link: SlotKey) {
        attempts[link] = nil
        overdue.remove(link)
        up.remove(link)
    }

    // MARK: The kernel's links

    mutating func connect(_ device: RadioAddress) {
        // No adapter has more links than this, so further ones are not believed.
        if connected.count < 64 { connected.insert(device) }
    }

    mutating func disconnect(_ device: RadioAddress) { connected.remove(device) }

    /// The adapter is off. Our links keep their slots until they are given back.
    mutating func switchedOff() {
        overdue.formUnion(attempts.keys)
        attempts = [:]
        connected = []
    }

    // MARK: Time

    /// An attempt that nobody ended in time no longer disturbs discovery, but counts until its slot is given back.
    mutating func expire(at now: MonotonicTime, _ timing: AdapterTiming) {
        for (link, since) in attempts where now >= since + timing.attemptMax {
            attempts[link] = nil
            overdue.insert(link)
        }
    }

    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? { attempts.values.min().map { $0 + timing.attemptMax } }
}
