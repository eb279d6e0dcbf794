import Cloud
import Domain
import Synchronization

/// Writes all records. While a request for a zone is in progress, the zone's next records gather and then share one
/// request.
final class RecordBatcher: Sendable {
    struct Times: Sendable {
        var now: WallTime
        var leaseTime: MonotonicTime
    }

    struct Job: Sendable {
        var records: [SyncRecord]
        var times: Times
        var continuation: CheckedContinuation<Result<[RecordOutcome], EtcdError>, Never>
    }

    private struct State {
        var jobs: [String: [Job]] = [:]
        var busy: Set<String> = []
        var writes: UInt64 = 0
        /// Value of `EtcdClient.life` when this replica last wrote a timeline mark, by zone.
        var marked: [String: UInt64] = [:]
    }

    private static let recordsPerRead = 100
    private static let roundsMax = 200

    let client: EtcdClient
    let keys: StoreKeys
    private let heads: HeadCache
    private let leases: LeaseCache
    private let aliases: AliasCache
    private let writer: String
    private let work: SharedWork
    private let now: @Sendable () -> MonotonicTime
    private let state = Mutex(State())
    private let rng: Mutex<any RandomNumberGenerator & Sendable>

    init(
        client: EtcdClient, keys: StoreKeys, heads: HeadCache, leases: LeaseCache, aliases: AliasCache,
        writer: String, work: SharedWork, rng: any RandomNumberGenerator & Sendable,
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        self.leases = leases
        self.aliases = aliases
        self.now = now
        self.rng = Mutex(rng)
        self.heads = heads
        self.client = client
        self.keys = keys
        self.writer = writer
        self.work = work
    }

    /// Writes the records, each atomically: after an error, some may be stored and others not. Completes even if the
    /// task is cancelled.
    func write(_ records: [SyncRecord], in zone: String, at times: Times) async throws(EtcdError) -> [RecordOutcome] {
        let result = await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.jobs[zone, default: []].append(Job(records: records, times: times, continuation: continuation))
                return state.busy.insert(zone).inserted
            }
            if isFirst { work.begin { [self] in await writeAll(in: zone) } }
        }
        return try result.get()
    }

    private func writeAll(in zone: String) async {
        while let jobs = take(zone) {
            for job in await answer(jobs, in: zone) { _ = await answer([job], in: zone) }
        }
    }

    /// - Returns: jobs to write one by one, because a damaged record, perhaps of another job, blocked them.
    private func answer(_ jobs: [Job], in zone: String) async -> [Job] {
        var items: [(record: SyncRecord, times: Times)] = []
        for job in jobs { items += job.records.map { ($0, job.times) } }
        var outcomes: [RecordOutcome] = []
        var failure: EtcdError?
        do throws(EtcdError) {
            try await write(items, in: zone, to: &outcomes)
        } catch {
            failure = error
        }
        var start = 0
        var keptBack: [Job] = []
        for job in jobs {
            let end = start + job.records.count
            if end <= outcomes.count {
                job.continuation.resume(returning: .success(Array(outcomes[start..<end])))
            } else if jobs.count > 1, failure?.code == .damaged {
                keptBack.append(job)
            } else {
                let error = failure ?? EtcdError(.garbage, "not all records of \(zone) were answered")
                job.continuation.resume(returning: .failure(error))
            }
            start = end
        }
        return keptBack
    }

    private func take(_ zone: String) -> [Job]? {
        state.withLock { state in
            guard var jobs = state.jobs.removeValue(forKey: zone) else {
                state.busy.remove(zone)
                return nil
            }
            // The first job waits for the last, so limit the total number of records.
            var count = 0
            let fits = jobs.prefix { job in
                count += job.records.count
                return count <= 800
            }
            let taken = Array(jobs.prefix(max(1, fits.count)))
            jobs.removeFirst(taken.count)
            if !jobs.isEmpty { state.jobs[zone] = jobs }
            return taken
        }
    }

    private func write(
        _ items: [(record: SyncRecord, times: Times)], in zone: String, to outcomes: inout [RecordOutcome]
    ) async throws(EtcdError) {
        var rounds = 0
        while outcomes.count < items.count {
            let slice = Self.firstTogether(items[outcomes.count...])
            guard var plan = try await read(slice, in: zone) else {
                try countRound(&rounds, zone)
                continue
            }
            // Unless another replica has written meanwhile, continue with this plan without another read.
            var done = 0
            while done < slice.count {
                var news: [RecordOutcome] = []
                for item in slice[done...] {
                    guard let outcome = plan.merge(item.record, now: item.times.now) else { break }
                    news.append(outcome)
                }
                guard let next = try await carryOut(plan, in: zone) else {
                    try countRound(&rounds, zone)
                    break
                }
                outcomes += news
                done += news.count
                plan = next
                // If these differ, etcd may have reverted to an older state, and the next change needs a new timeline
                // mark.
                guard plan.life == client.life else { break }
            }
        }
    }

    private func countRound(_ rounds: inout Int, _ zone: String) throws(EtcdError) {
        rounds += 1
        guard rounds < Self.roundsMax else {
            throw EtcdError(.overloaded, "too many others write to \(zone). Try again")
        }
    }

    /// Returns the first records to decide together. An alias is decided alone, because it depends on its meters'
    /// leases.
    private static func firstTogether(
        _ items: ArraySlice<(record: SyncRecord, times: Times)>
    ) -> [(record: SyncRecord, times: Times)] {
        if let first = items.first, first.record.key.type == .meterAlias { return [first] }
        return Array(items.prefix { $0.record.key.type != .meterAlias }.prefix(recordsPerRead))
    }

    /// Nil if the zone's usage had to be counted first, so that the caller must read again.
    private func read(
        _ items: [(record: SyncRecord, times: Times)], in zone: String
    ) async throws(EtcdError) -> RecordPlan? {
        let distinct = Array(Set(items.map(\.record.key)))
        let life = client.life
        let isMarked = state.withLock { $0.marked[zone] == life }
        var ranges = [
            EtcdRange(key: keys.head(zone)), EtcdRange(key: keys.zone(zone)), EtcdRange(prefix: keys.shares(in: zone)),
        ]
        let others = ranges.count
        ranges += distinct.map { EtcdRange(key: keys.record($0, in: zone)) }
        if !isMarked { ranges.append(EtcdRange(key: keys.newestMark(of: zone))) }
        let found = try await client.read(ranges).ranges
        guard let entry = found[0].entries.first, let terms = found[1].entries.first else {
            throw EtcdError(damaged: keys.head(zone), "it is missing")
        }
        let head = try StoredHead(entry)
        guard let usage = try ZoneUsage(head, shares: found[2].entries) else {
            try await count(zone)
            return nil
        }
        var stored: [RecordKey: StoredRecord] = [:]
        for (key, range) in zip(distinct, found.dropFirst(others)) {
            if let entry = range.entries.first { stored[key] = try StoredRecord(entry) }
        }
        var mark: TimelineMark?
        if !isMarked, let last = found.last {
            let newest = try last.entries.first.map { entry throws(EtcdError) in try TimelineMark(entry) }
            mark = TimelineMark(after: newest, at: head.sequence, id: rng.withLock { $0.next() })
        }
        return RecordPlan(
            zone: zone, keys: keys, head: head, headRevision: entry.revision,
            quota: try StoredTerms(terms).quota?.quota ?? .standard, usage: usage, stored: stored, life: life,
            mark: mark, aliases: try await aliasBasis(of: items, onto: stored, in: zone))
    }

    /// Nil if the first record is not an alias, or changes no alias.
    private func aliasBasis(
        of items: [(record: SyncRecord, times: Times)], onto stored: [RecordKey: StoredRecord], in zone: String
    ) async throws(EtcdError) -> AliasBasis? {
        guard let item = items.first, item.record.key.type == .meterAlias else { return nil }
        let seen = try await aliases.read(zone)
        let merged = stored[item.record.key]?.record.merged(with: item.record) ?? item.record
        guard let change = seen.book.change(with: merged) else { return nil }
        let ranges = change.meters.flatMap { meter in
            [EtcdRange(key: keys.lease(of: meter, in: zone)), EtcdRange(key: keys.pulse(of: meter, in: zone))]
        }
        let found = ranges.isEmpty ? [] : try await client.read(ranges).ranges
        let now = now()
        var read: [String: SeenLease] = [:]
        for (index, meter) in change.meters.enumerated() {
            let pulse = found[2 * index + 1].entries.first?.revision ?? 0
            guard let entry = found[2 * index].entries.first else {
                read[meter] = SeenLease(record: nil, pulse: pulse)
                continue
            }
            // `update` lets an unchanged lease keep the earlier time at which this replica first read it.
            let lease = try SeenLease(entry, pulse: pulse, at: now)
            read[meter] = leases.update(lease, at: MeterPlace(zone: zone, meter: meter)).seen
        }
        return AliasBasis(seen: seen, leases: read, leaseTime: item.times.leaseTime)
    }

    /// - Returns: an empty plan that continues from the written state; nil if another writer changed the head first.
    private func carryOut(_ plan: RecordPlan, in zone: String) async throws(EtcdError) -> RecordPlan? {
        guard !plan.isEmpty else { return plan }
        let (transaction, head) = try plan.transaction(writer: nextWriter())
        let answer = try await client.commit(transaction)
        var revision = answer.revision
        if !answer.succeeded {
            // If the stored head equals this plan's head, an earlier attempt succeeded and its answer was lost.
            guard let entry = answer.range(0)?.entries.first, entry.value == head else { return nil }
            revision = entry.revision
        }
        if plan.mark != nil { state.withLock { $0.marked[zone] = plan.life } }
        plan.followed?.putInForce(at: revision, in: zone, aliases, leases)
        heads.wrote(zone, from: plan.sequence, to: plan.head.sequence)
        return RecordPlan(
            zone: zone, keys: keys, head: plan.head, headRevision: revision, quota: plan.quota, usage: plan.usage,
            stored: plan.records, life: plan.life)
    }

    func nextWriter() -> String {
        let number = state.withLock { state in
            state.writes += 1
            return state.writes
        }
        return "\(writer) \(number)"
    }

    var writeCount: UInt64 { state.withLock { $0.writes } }
}
