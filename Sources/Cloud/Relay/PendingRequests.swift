import CloudAPI
import MeterModel

/// Requests that are offered to hosts, claimed once where that is needed, answered, or timed out. A value: the time is
/// passed in.
///
/// A request with a claim is done at most once and never late: one claim is granted, and none once its time is over. So
/// nobody does a request that ended unclaimed.
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

    private var entries: [PendingKey: Entry] = [:]
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
        let rules = Request.rules
        let open = entries.values.count { $0.request.asker == request.asker && $0.isOpen }
        guard open < rules.openPerHost, entries.count < rules.countMax else {
            throw CloudFailure(
                .rateLimited, "\(open) \(rules.noun) of this host wait for their outcome; wait for those",
                retryAfter: .seconds(1))
        }
        let hosts = request.hosts
        entries[key] = Entry(request: request, until: now + rules.offerTime, silent: hosts)
        return (true, hosts.isEmpty ? end(key, .answered, at: now) : [])
    }

    /// The requests that wait to be claimed by a host.
    func offered(to host: HostID, in zone: String) -> [(PendingKey, Request)] {
        entries.filter { key, entry in
            guard case .offered = entry.phase else { return false }
            return key.zone == zone && entry.silent[host] != nil
        }
        .sorted { $0.key < $1.key }.map { ($0.key, $0.value.request) }
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
        entries[key]?.phase = .claimed
        entries[key]?.until = now + Request.rules.outcomeTime
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
        guard size <= Request.rules.bytesMax - bytes else {
            throw CloudFailure(.rateLimited, "there is no room for so many answers just now", retryAfter: .seconds(1))
        }
        bytes += size
        entry.bytes += size
        entry.silent[host] = nil
        entry.parts[host] = part
        entries[key] = entry
        return (true, entry.silent.isEmpty ? end(key, .answered, at: now) : [])
    }

    /// Ends a request that nobody has claimed.
    mutating func giveUp(_ key: PendingKey, _ cause: PendingEnd<Request.Part>.Cause, at now: MonotonicTime) -> [Ended] {
        guard case .offered? = entries[key]?.phase else { return [] }
        return end(key, cause, at: now)
    }

    /// Ends what has waited long enough, and forgets old outcomes.
    mutating func passed(_ now: MonotonicTime) -> [Ended] {
        let due = entries.filter { $0.value.until <= now }
        for (key, entry) in due where !entry.isOpen { entries[key] = nil }
        return due.filter(\.value.isOpen).keys.sorted().flatMap { end($0, .expired, at: now) }
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
        bytes -= entry.bytes
        (entry.bytes, entry.parts) = (0, [:])
        entry.phase = .ended(outcome)
        entry.until = now + Request.rules.keptFor
        entries[key] = entry.until > now ? entry : nil
        return [(key, outcome)]
    }
}
