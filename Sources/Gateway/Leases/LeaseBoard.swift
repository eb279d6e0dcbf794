package import Domain

/// All leases of the zone as this host last heard of them, counted down on its own clock (Docs/Leases.md#rule-3).
///
/// Renewals send no event, so a foreign lease seems to run out even while it is renewed. `listAt` therefore says when
/// to fetch the list again.
package struct LeaseBoard: Sendable {
    /// Least time between two lists.
    static let listInterval = Duration.seconds(10)
    /// The same, if only expired leases call for a list: an event reports their end.
    static let idleInterval = Duration.seconds(60)

    fileprivate struct Entry {
        var lease: LeaseView
        var receivedAt: MonotonicTime
    }

    private let host: HostID
    private var entries: [MeterID: Entry] = [:]
    private var listedAt: MonotonicTime?
    /// The meters that an event or an answer told about since the list was last asked for.
    private var toldSinceAsked: Set<MeterID> = []
    /// The greatest tokens that this host gave back.
    private var givenBack: [MeterID: FencingToken] = [:]

    package init(host: HostID) { self.host = host }

    /// Whether the whole list came at least once.
    package private(set) var isKnown = false
    /// Whether the list is on its way.
    private(set) var isAsked = false
    /// The event stream was opened meanwhile, so that changes between the two were told by neither.
    private var isTooOld = false

    /// The list is being asked for. Until it came, no second one is.
    package mutating func listAsked() { (toldSinceAsked, isAsked) = ([], true) }

    /// From now on changes are told as they happen.
    mutating func streamOpened() { isTooOld = isAsked }

    /// - Returns: whether the list has to be asked for once more.
    mutating func listEnded() -> Bool {
        defer { (isAsked, isTooOld) = (false, false) }
        return isTooOld
    }

    /// The whole list came. Meters missing from it are free. What was told since it was asked for may be newer than the
    /// list, and is followed by events where it is not.
    package mutating func list(_ leases: [LeaseView], at now: MonotonicTime) {
        (listedAt, isKnown) = (now, true)
        entries = entries.filter { toldSinceAsked.contains($0.key) }
        for lease in leases where !toldSinceAsked.contains(lease.meter) && !isGivenBack(lease) {
            entries[lease.meter] = Entry(lease: lease, receivedAt: now)
        }
    }

    /// A requested list did not come. The next one is not requested at once.
    package mutating func listFailed(at now: MonotonicTime) { listedAt = now }

    /// An event or an answer told about one lease.
    package mutating func update(_ lease: LeaseView, at now: MonotonicTime) {
        if isGivenBack(lease) { return }
        if let known = entries[lease.meter], known.lease.token > lease.token { return }
        toldSinceAsked.insert(lease.meter)
        guard lease.state != .free || !lease.waiting.isEmpty else {
            entries[lease.meter] = nil
            return
        }
        entries[lease.meter] = Entry(lease: lease, receivedAt: now)
    }

    /// This host gave a lease back. News of it may still be on their way.
    package mutating func released(_ lease: HeldLease) {
        givenBack[lease.meter] = max(lease.token, givenBack[lease.meter] ?? lease.token)
        toldSinceAsked.insert(lease.meter)
        guard entries[lease.meter]?.lease.token == lease.token else { return }
        entries[lease.meter] = nil
    }

    private func isGivenBack(_ lease: LeaseView) -> Bool {
        guard lease.holder == host, let token = givenBack[lease.meter] else { return false }
        return lease.token <= token
    }

    /// One lease, with the time it has left now.
    package func lease(of meter: MeterID, at now: MonotonicTime) -> LeaseView? {
        entries[meter].map { $0.counted(at: now) }
    }

    /// All leases that somebody has or waits for, by meter.
    package func leases(at now: MonotonicTime) -> [LeaseView] {
        entries.values.map { $0.counted(at: now) }.sorted { $0.meter < $1.meter }
    }

    /// When the next lease of another host expires, as far as known.
    func nextExpiry(after now: MonotonicTime) -> MonotonicTime? {
        entries.values.filter { $0.lease.holder != nil && $0.lease.holder != host }
            .map { $0.receivedAt + $0.lease.remaining }.filter { $0 > now }.min()
    }

    /// When to fetch the list: once a foreign lease has less than half its time left, so that a live one shows as such;
    /// at most every ten seconds. Nil if events tell enough.
    package var listAt: MonotonicTime? {
        guard let listedAt else { return .origin }
        let wishes = entries.values.compactMap { entry -> MonotonicTime? in
            guard entry.lease.holder != nil, entry.lease.holder != host else { return nil }
            let half = entry.receivedAt + entry.lease.remaining - entry.lease.terms.timeToLive / 2
            let isExpired = entry.lease.remaining <= .zero
            return max(half, listedAt + (isExpired ? Self.idleInterval : Self.listInterval))
        }
        return wishes.min()
    }
}

extension LeaseBoard.Entry {
    fileprivate func counted(at now: MonotonicTime) -> LeaseView {
        var lease = lease
        lease.remaining = max(.zero, lease.remaining - (now - receivedAt))
        if lease.state == .held, lease.remaining == .zero { lease.state = .expired }
        return lease
    }
}
