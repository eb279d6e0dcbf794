import CloudAPI
import Domain

/// Requests that are offered to hosts, claimed once where needed, answered, or timed out.
///
/// The store ensures that each request is claimed only once. This type ensures that no claim is granted after the
/// deadline.
struct PendingRequests<Request: PendingRequest> {
    typealias Ended = (key: PendingKey, outcome: Request.Outcome)

    private enum Phase {
        /// Valid transition: `claimed`.
        case offered
        case claimed
    }

    private struct Entry {
        let request: Request
        var phase = Phase.offered
        var until: MonotonicTime
        var silent: [HostID: AskedHost]
        var parts: [HostID: Request.Part] = [:]
        var bytes = 0
    }

    private struct Usage {
        var count = 0
        var bytes = 0
    }

    private var entries: [PendingKey: Entry] = [:]
    private var ends = DueTimes<PendingKey>()
    private var offers: [HostPlace: Set<PendingKey>] = [:]
    private var hosts: [HostPlace: Usage] = [:]
    private var zones: [String: Usage] = [:]
    private var bytes = 0

    var count: Int { entries.count }

    func request(_ key: PendingKey) -> Request? { entries[key]?.request }

    /// - Parameter stored: number of requests of the host and the zone in the store.
    /// - Returns: whether the request is new. If no host can receive it, `ended` contains the request with its outcome.
    /// - Throws: `rateLimited`; `badRequest` if the id was used for another request.
    mutating func take(
        _ key: PendingKey, _ request: Request, stored: CommandCounts = .none, at now: MonotonicTime
    ) throws(CloudFailure) -> (isNew: Bool, ended: [Ended]) {
        if let known = entries[key] {
            guard known.request == request else { throw .used(key.requestID) }
            return (false, [])
        }
        try checkShare(of: HostPlace(zone: key.zone, host: request.asker), stored)
        let entry = Entry(request: request, until: now + Request.rules.offerTime, silent: request.hosts)
        entries[key] = entry
        ends.add(key, at: entry.until)
        use(key, request) { $0.count += 1 }
        for (host, asked) in entry.silent where asked.token != nil {
            offers[HostPlace(zone: key.zone, host: host), default: []].insert(key)
        }
        return (true, entry.silent.isEmpty ? end(key, .answered) : [])
    }

    private func checkShare(of place: HostPlace, _ stored: CommandCounts) throws(CloudFailure) {
        let (rules, host, zone) = (Request.rules, hosts[place]?.count ?? 0, zones[place.zone]?.count ?? 0)
        guard host < rules.openPerHost, host + stored.host < rules.countPerHost else {
            throw CloudFailure(
                .rateLimited,
                "\(host) \(rules.noun) of this host wait for their outcome, and \(stored.host) are stored; wait for those",
                retryAfter: .seconds(1))
        }
        guard zone + stored.zone < rules.countPerZone else {
            throw CloudFailure(
                .rateLimited,
                "\(zone) \(rules.noun) of the hosts of \(place.zone) wait for their outcome, and \(stored.zone) are stored; "
                    + "ask again later", retryAfter: .seconds(1))
        }
    }

    private mutating func use(_ key: PendingKey, _ request: Request, _ change: (inout Usage) -> Void) {
        let place = HostPlace(zone: key.zone, host: request.asker)
        change(&hosts[place, default: Usage()])
        change(&zones[key.zone, default: Usage()])
        if hosts[place]?.count == 0 { hosts[place] = nil }
        if zones[key.zone]?.count == 0 { zones[key.zone] = nil }
    }

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

    func offer(_ key: PendingKey, to host: HostID, token: UInt64, at now: MonotonicTime) -> Request? {
        guard let entry = entries[key], entry.silent[host]?.token == token, case .offered = entry.phase,
            now < entry.until
        else { return nil }
        return entry.request
    }

    /// Marks a request as claimed, unless it no longer waits for a claim.
    mutating func claimed(_ key: PendingKey, at now: MonotonicTime) {
        guard case .offered? = entries[key]?.phase else { return }
        withdrawOffer(key)
        entries[key]?.phase = .claimed
        entries[key]?.until = now + Request.rules.outcomeTime
        ends.add(key, at: now + Request.rules.outcomeTime)
    }

    /// - Returns: whether a caller waits for the part.
    /// - Throws: `rateLimited` if there is no room for the part.
    mutating func answer(
        _ key: PendingKey, by host: HostID, token: UInt64? = nil, _ part: Request.Part, bytes size: Int = 0
    ) throws(CloudFailure) -> (isNews: Bool, ended: [Ended]) {
        guard var entry = entries[key], let asked = entry.silent[host], asked.token == token else {
            return (false, [])
        }
        try checkRoom(for: size, of: HostPlace(zone: key.zone, host: entry.request.asker))
        bytes += size
        entry.bytes += size
        use(key, entry.request) { $0.bytes += size }
        entry.silent[host] = nil
        entry.parts[host] = part
        entries[key] = entry
        return (true, entry.silent.isEmpty ? end(key, .answered) : [])
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

    mutating func giveUp(_ key: PendingKey, _ cause: PendingEnd<Request.Part>.Cause) -> [Ended] {
        guard case .offered? = entries[key]?.phase else { return [] }
        return end(key, cause)
    }

    mutating func passed(_ now: MonotonicTime) -> [Ended] {
        var ended: [Ended] = []
        while let due = ends.next(by: now) {
            // Skip an outdated deadline: the request has ended or has another deadline.
            guard entries[due.item]?.until == due.time else { continue }
            ended += end(due.item, .expired)
        }
        return ended
    }

    mutating func close() -> [Ended] { entries.keys.sorted().flatMap { end($0, .closed) } }

    private mutating func end(_ key: PendingKey, _ cause: PendingEnd<Request.Part>.Cause) -> [Ended] {
        guard let entry = entries[key] else { return [] }
        let wasClaimed = if case .claimed = entry.phase { true } else { false }
        let outcome = entry.request.outcome(
            PendingEnd(cause: cause, wasClaimed: wasClaimed, parts: entry.parts, silent: entry.silent))
        bytes -= entry.bytes
        use(key, entry.request) {
            $0.count -= 1; $0.bytes -= entry.bytes
        }
        withdrawOffer(key)
        entries[key] = nil
        // Remove outdated deadlines in bulk, at a low cost for each.
        if ends.count > 2 * entries.count + 64 { ends.keep { entries[$0]?.until == $1 } }
        return [(key, outcome)]
    }
}
