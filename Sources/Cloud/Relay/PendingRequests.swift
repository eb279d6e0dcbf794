import CloudAPI
import MeterModel

/// Requests that are offered to hosts, claimed once where that is needed, answered, or timed out. A value: the time is
/// passed in.
///
/// A request with a claim is done at most once and never late: one claim is granted, and none once its time is over. So
/// nobody does a request that ended unclaimed.
///
/// A call takes no longer for the requests of others, apart from a logarithm: their number is counted by host and by zone,
/// and what is due next lies at hand.
struct PendingRequests<Request: PendingRequest> {
    typealias Ended = (key: PendingKey, outcome: Request.Outcome)

    private enum Phase {
        /// Valid transitions: `claimed`, `ended`.
        case offered
        /// Valid transition: `ended`.
        case claimed
        case ended(Request.Outcome)
    }

    private struct Entry {
        let request: Request
        var phase = Phase.offered
        /// When the phase is over.
        var until: MonotonicTime
        var silent: [HostID: AskedHost]
        var parts: [HostID: Request.Part] = [:]
        var bytes = 0

        var isOpen: Bool {
            if case .ended = phase { false } else { true }
        }
        var isClaimed: Bool {
            if case .claimed = phase { true } else { false }
        }
    }

    private struct Usage {
        var open = 0
        var count = 0
        var bytes = 0
    }

    private var entries: [PendingKey: Entry] = [:]
    private var ends = DueTimes<PendingKey>()
    /// Requests that wait for the claim of a host.
    private var offers: [HostPlace: Set<PendingKey>] = [:]
    /// What askers use.
    private var hosts: [HostPlace: Usage] = [:]
    private var zones: [String: Usage] = [:]
    private var bytes = 0

    /// Number of requests, with those whose outcome is kept.
    var count: Int { entries.count }

    func request(_ key: PendingKey) -> Request? { entries[key]?.request }

    /// The outcome of a request; nil while it is open.
    func outcome(_ key: PendingKey) -> Request.Outcome? {
        guard case .ended(let outcome)? = entries[key]?.phase else { return nil }
        return outcome
    }

    /// Takes a request in.
    ///
    /// - Returns: whether it is new, and it itself where it has ended by that: nobody is asked.
    /// - Throws: `rateLimited`; `badRequest` if the id was used for another request.
    mutating func take(
        _ key: PendingKey, _ request: Request, at now: MonotonicTime
    ) throws(CloudFailure) -> (isNew: Bool, ended: [Ended]) {
        if let known = entries[key] {
            guard known.request == request else {
                throw CloudFailure(.badRequest, "the id \(key.requestID) was used for another request; make a new one")
            }
            return (false, [])
        }
        try checkShare(of: HostPlace(zone: key.zone, host: request.asker))
        let entry = Entry(request: request, until: now + Request.rules.offerTime, silent: request.hosts)
        entries[key] = entry
        ends.add(key, at: entry.until)
        use(key, request) {
            $0.open += 1; $0.count += 1
        }
        for (host, asked) in entry.silent where asked.token != nil {
            offers[HostPlace(zone: key.zone, host: host), default: []].insert(key)
        }
        return (true, entry.silent.isEmpty ? end(key, .answered, at: now) : [])
    }

    private func checkShare(of place: HostPlace) throws(CloudFailure) {
        let (rules, host) = (Request.rules, hosts[place] ?? Usage())
        guard host.open < rules.openPerHost, host.count < rules.countPerHost else {
            throw CloudFailure(
                .rateLimited,
                "\(host.open) \(rules.noun) of this host wait for their outcome, and \(host.count - host.open) are over "
                    + "and still known; wait for those", retryAfter: .seconds(1))
        }
        let count = zones[place.zone]?.count ?? 0
        guard count < rules.countPerZone else {
            throw CloudFailure(
                .rateLimited, "\(count) \(rules.noun) of the hosts of \(place.zone) are known here; ask again later",
                retryAfter: .seconds(1))
        }
    }

    /// Notes what a request uses in the shares of its host and zone.
    private mutating func use(_ key: PendingKey, _ request: Request, _ change: (inout Usage) -> Void) {
        let place = HostPlace(zone: key.zone, host: request.asker)
        change(&hosts[place, default: Usage()])
        change(&zones[key.zone, default: Usage()])
        if hosts[place]?.count == 0 { hosts[place] = nil }
        if zones[key.zone]?.count == 0 { zones[key.zone] = nil }
    }

    /// The requests that wait to be claimed by a host.
    func offered(to host: HostID, in zone: String) -> [(PendingKey, Request)] {
        (offers[HostPlace(zone: zone, host: host)] ?? []).sorted().compactMap { key in
            entries[key].map { (key, $0.request) }
        }
    }

    private mutating func withdrawOffer(_ key: PendingKey) {
        for host in entries[key]?.request.hosts.keys ?? [:].keys {
            let place = HostPlace(zone: key.zone, host: host)
            offers[place]?.remove(key)
            if offers[place]?.isEmpty == true { offers[place] = nil }
        }
    }

    /// Grants the claim of a host that is about to do what is asked.
    ///
    /// - Throws: `notFound` unless the request waits to be claimed by this host.
    mutating func claim(
        _ key: PendingKey, by host: HostID, token: UInt64, at now: MonotonicTime
    ) throws(CloudFailure) {
        guard let entry = entries[key], entry.silent[host]?.token == token, case .offered = entry.phase,
            now < entry.until
        else {
            throw CloudFailure(.notFound, "the request \(key.requestID) must not be done: it is claimed, or over")
        }
        withdrawOffer(key)
        entries[key]?.phase = .claimed
        entries[key]?.until = now + Request.rules.outcomeTime
        ends.add(key, at: now + Request.rules.outcomeTime)
    }

    /// A host says something, once.
    ///
    /// - Parameter bytes: size of the part.
    /// - Returns: whether somebody waits for it.
    /// - Throws: `rateLimited` where there is no room for it.
    mutating func answer(
        _ key: PendingKey, by host: HostID, token: UInt64? = nil, _ part: Request.Part, bytes size: Int = 0,
        at now: MonotonicTime
    ) throws(CloudFailure) -> (isNews: Bool, ended: [Ended]) {
        guard var entry = entries[key], entry.isOpen, let asked = entry.silent[host], asked.token == token else {
            return (false, [])
        }
        try checkRoom(for: size, of: HostPlace(zone: key.zone, host: entry.request.asker))
        bytes += size
        entry.bytes += size
        use(key, entry.request) { $0.bytes += size }
        entry.silent[host] = nil
        entry.parts[host] = part
        entries[key] = entry
        return (true, entry.silent.isEmpty ? end(key, .answered, at: now) : [])
    }

    private func checkRoom(for size: Int, of place: HostPlace) throws(CloudFailure) {
        let rules = Request.rules
        let (host, zone) = (hosts[place]?.bytes ?? 0, zones[place.zone]?.bytes ?? 0)
        let isRoom =
            size <= rules.bytesPerHost - host && size <= rules.bytesPerZone - zone
            && (size <= rules.bytesMax - bytes || size <= rules.bytesAlways - zone)
        guard isRoom else {
            throw CloudFailure(.rateLimited, "there is no room for so many answers just now", retryAfter: .seconds(1))
        }
    }

    /// Ends a request that nobody has claimed.
    mutating func giveUp(_ key: PendingKey, _ cause: PendingEnd<Request.Part>.Cause, at now: MonotonicTime) -> [Ended] {
        guard case .offered? = entries[key]?.phase else { return [] }
        return end(key, cause, at: now)
    }

    /// Ends what has waited long enough, and forgets old outcomes.
    mutating func passed(_ now: MonotonicTime) -> [Ended] {
        var ended: [Ended] = []
        while let due = ends.next(by: now) {
            // A request that has got another end since, or was forgotten.
            guard let entry = entries[due.item], entry.until == due.time else { continue }
            if entry.isOpen { ended += end(due.item, .expired, at: now) } else { forget(due.item, entry.request) }
        }
        return ended
    }

    /// Ends everything: this copy of the cloud stops.
    mutating func close(at now: MonotonicTime) -> [Ended] {
        entries.filter(\.value.isOpen).keys.sorted().flatMap { end($0, .closed, at: now) }
    }

    private mutating func end(
        _ key: PendingKey, _ cause: PendingEnd<Request.Part>.Cause, at now: MonotonicTime
    ) -> [Ended] {
        guard var entry = entries[key], entry.isOpen else { return [] }
        let outcome = entry.request.outcome(
            PendingEnd(cause: cause, wasClaimed: entry.isClaimed, parts: entry.parts, silent: entry.silent))
        let size = entry.bytes
        bytes -= size
        use(key, entry.request) {
            $0.open -= 1; $0.bytes -= size
        }
        withdrawOffer(key)
        (entry.bytes, entry.parts) = (0, [:])
        entry.phase = .ended(outcome)
        entry.until = now + Request.rules.keptFor
        entries[key] = entry
        if entry.until > now { ends.add(key, at: entry.until) } else { forget(key, entry.request) }
        return [(key, outcome)]
    }

    private mutating func forget(_ key: PendingKey, _ request: Request) {
        use(key, request) { $0.count -= 1 }
        entries[key] = nil
        // Times that are over for another reason: thrown out together, so that each costs nothing by itself.
        if ends.count > 2 * entries.count + 64 { ends.keep { entries[$0]?.until == $1 } }
    }
}
