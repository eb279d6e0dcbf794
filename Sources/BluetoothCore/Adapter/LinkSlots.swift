import Domain

struct LinkSlots: Sendable {
    private let linksMax: Int
    private var attempts: [SlotKey: MonotonicTime] = [:]
    private var overdue: Set<SlotKey> = []
    private var up: Set<SlotKey> = []
    /// Links of this and other programs, as the kernel reports them.
    private var connected: Set<RadioAddress> = []

    init(linksMax: Int) { self.linksMax = linksMax }

    var count: Int { attempts.count + overdue.count + up.count }
    var hasAttempts: Bool { !attempts.isEmpty }
    /// Whether this program has an open link. Such a link counts as working, because its session closes it when the
    /// meter is silent.
    var hasOwnLinks: Bool { !up.isEmpty }
    /// Whether any program has a link, which an inquiry or a remedy would disturb.
    var hasLinks: Bool { hasOwnLinks || !connected.isEmpty }
    var lastClassicAttempt: MonotonicTime? { attempts.lazy.filter(\.key.isClassic).map(\.value).max() }

    func contains(_ link: SlotKey) -> Bool { attempts[link] != nil || overdue.contains(link) || up.contains(link) }

    // MARK: Our links

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
        // No adapter has more links than this.
        if connected.count < 64 { connected.insert(device) }
    }

    mutating func disconnect(_ device: RadioAddress) { connected.remove(device) }

    /// Drops the links that the kernel reported. Our own links keep their slots until the caller gives them back.
    mutating func switchedOff() {
        overdue.formUnion(attempts.keys)
        attempts = [:]
        connected = []
    }

    // MARK: Time

    /// Marks attempts that timed out. They no longer pause discovery, but keep their slots.
    mutating func expire(at now: MonotonicTime, _ timing: AdapterTiming) {
        for (link, since) in attempts where now >= since + timing.attemptMax {
            attempts[link] = nil
            overdue.insert(link)
        }
    }

    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? { attempts.values.min().map { $0 + timing.attemptMax } }
}
