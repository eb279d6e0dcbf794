package import Domain

/// All leases of the zone as last received. Their remaining times count down on this host's monotonic clock
/// (Docs/Leases.md#rule-3).
///
/// Renewals send no event, so another host's lease appears to expire. `listAt` is the time to fetch the list again.
package struct LeaseBoard: Sendable {
    static let listInterval = Duration.seconds(10)
    /// Minimum time between two requests for the list while another host's lease appears expired. Longer than
    /// `listInterval`, because an event reports the lease's end.
    static let idleInterval = Duration.seconds(60)

    fileprivate struct Entry {
        var lease: LeaseView
        var receivedAt: MonotonicTime
    }

    private let host: HostID
    private var entries: [MeterID: Entry] = [:]
    private var listedAt: MonotonicTime?
    private var toldSinceAsked: Set<MeterID> = []
    /// Greatest fencing token that this host released, by meter.
    private var givenBack: [MeterID: FencingToken] = [:]

    package init(host: HostID) { self.host = host }

    package private(set) var isKnown = false
    private(set) var isAsked = false
    /// Whether the event stream opened while the list was requested. Then list and events may both lack a change made
    /// in between.
    private var isTooOld = false

    package mutating func listAsked() { (toldSinceAsked, isAsked) = ([], true) }

    mutating func streamOpened() { isTooOld = isAsked }

    /// Returns whether to request the list again.
    mutating func listEnded() -> Bool {
        defer { (isAsked, isTooOld) = (false, false) }
        return isTooOld
    }

    /// Replaces all leases by the list, except leases updated since the request, because they may be newer.
    package mutating func list(_ leases: [LeaseView], at now: MonotonicTime) {
        (listedAt, isKnown) = (now, true)
        entries = entries.filter { toldSinceAsked.contains($0.key) }
        for lease in leases where !toldSinceAsked.contains(lease.meter) && !isGivenBack(lease) {
            entries[lease.meter] = Entry(lease: lease, receivedAt: now)
        }
    }

    /// Delays the next request after a failed one.
    package mutating func listFailed(at now: MonotonicTime) { listedAt = now }

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

    /// Removes a released lease and ignores delayed updates of it.
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

    package func lease(of meter: MeterID, at now: MonotonicTime) -> LeaseView? {
        entries[meter].map { $0.counted(at: now) }
    }

    package func leases(at now: MonotonicTime) -> [LeaseView] {
        entries.values.map { $0.counted(at: now) }.sorted { $0.meter < $1.meter }
    }

    func nextExpiry(after now: MonotonicTime) -> MonotonicTime? {
        entries.values.filter { $0.lease.holder != nil && $0.lease.holder != host }
            .map { $0.receivedAt + $0.lease.remaining }.filter { $0 > now }.min()
    }

    /// Time to fetch the list: when less than half of another host's lease remains, to see whether its holder still
    /// renews it. Nil if events suffice.
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
