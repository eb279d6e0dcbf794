import Cloud
import Domain
import Synchronization

/// Decides all leases. While requests are in progress, further decisions gather and then share one request to etcd, in
/// which each lease has its own comparison and change.
///
/// Decisions about one lease are made in order, and those that gather together become one change. Answers are sent
/// after etcd has stored the result.
final class LeaseBatcher: Sendable {
    private struct State {
        var jobs: [MeterPlace: [LeaseJob]] = [:]
        var line: [MeterPlace] = []
        var underWay: Set<MeterPlace> = []
        var workers = 0
    }

    /// Maximum number of concurrent requests: while etcd writes one to disk, the next can already be transmitted.
    private static let workersMax = 3
    /// Maximum number of leases per request: each takes a few of the operations that etcd allows, and each zone one.
    static let leasesPerRequest = 60
    /// Maximum number of plans whose leases one request reads. Each plan needs three ranges, and one more for each
    /// other meter id in its jobs.
    private static let looksPerRequest = 10
    /// Maximum number of attempts: more conflicts mean a fault, not competing writers.
    private static let roundsMax = 200

    private let client: EtcdClient
    private let keys: StoreKeys
    private let leaseCache: LeaseCache
    private let aliases: AliasCache
    private let pendingRenewals: PendingRenewals
    private let writer: String
    private let work: SharedWork
    private let now: @Sendable () -> MonotonicTime
    private let state = Mutex(State())
    private let requests = Atomic<UInt64>(0)
    private let decisions = Atomic<UInt64>(0)

    init(
        client: EtcdClient, keys: StoreKeys, leaseCache: LeaseCache, aliases: AliasCache,
        pendingRenewals: PendingRenewals,
        writer: String, work: SharedWork, now: @escaping @Sendable () -> MonotonicTime
    ) {
        self.client = client
        self.keys = keys
        self.leaseCache = leaseCache
        self.aliases = aliases
        self.pendingRenewals = pendingRenewals
        self.writer = writer
        self.work = work
        self.now = now
    }

    var counts: (requests: UInt64, decisions: UInt64) {
        (requests.load(ordering: .relaxed), decisions.load(ordering: .relaxed))
    }

    /// Queues jobs and returns immediately. Every job gets an answer.
    func submit(_ jobs: [LeaseJob], in zone: String) {
        let placed = jobs.map { (aliases.canonical(MeterPlace(zone: zone, meter: $0.meter)), $0) }
        let workers = state.withLock { state in
            for (place, job) in placed {
                if state.jobs[place] == nil, !state.underWay.contains(place) { state.line.append(place) }
                state.jobs[place, default: []].append(job)
            }
            let wanted = (state.line.count + Self.leasesPerRequest - 1) / Self.leasesPerRequest
            let more = max(0, min(wanted, Self.workersMax - state.workers))
            state.workers += more
            return more
        }
        decisions.wrappingAdd(UInt64(jobs.count), ordering: .relaxed)
        for _ in 0..<workers { work.begin { [self] in await decideAll() } }
    }

    private func decideAll() async {
        while let batch = take() {
            await decide(batch)
            state.withLock { state in
                for place in batch.keys {
                    state.underWay.remove(place)
                    if state.jobs[place] != nil { state.line.append(place) }
                }
            }
        }
    }

    private func take() -> [MeterPlace: [LeaseJob]]? {
        state.withLock { state in
            let places = state.line.prefix(Self.leasesPerRequest)
            guard !places.isEmpty else {
                state.workers -= 1
                return nil
            }
            state.line.removeFirst(places.count)
            var batch: [MeterPlace: [LeaseJob]] = [:]
            for place in places {
                state.underWay.insert(place)
                batch[place] = state.jobs.removeValue(forKey: place)
            }
            return batch
        }
    }

    private struct Progress {
        /// Whether renewals share one comparison; after a failure each has its own.
        var sharesPulses = true
        /// Meters whose leases this replica has read for this decision, and may create if missing.
        var absent: Set<MeterPlace> = []
    }

    private func decide(_ batch: [MeterPlace: [LeaseJob]]) async {
        var (left, progress) = (batch, Progress())
        for _ in 0..<Self.roundsMax where !left.isEmpty {
            do throws(EtcdError) {
                left = try await round(left, &progress)
            } catch {
                for job in left.values.joined() { job.fail(error) }
                return
            }
        }
        let error = EtcdError(.overloaded, "too many others change the same lease. Try again")
        for job in left.values.joined() { job.fail(error) }
    }

    /// - Returns: jobs to decide again, because another writer changed their lease first.
    /// - Throws: only before any job is answered, so that none is answered twice.
    private func round(
        _ asked: [MeterPlace: [LeaseJob]], _ progress: inout Progress
    ) async throws(EtcdError) -> [MeterPlace: [LeaseJob]] {
        var refusals: [() -> Void] = []
        let (placed, books) = try await place(asked, &refusals)
        var jobs = placed
        var plans: [LeasePlan] = []
        for (place, jobs) in jobs {
            let plan = try LeasePlan(jobs, at: place, aliases: books[place.zone] ?? SeenAliases(), writer: writer) {
                leaseCache.lease(MeterPlace(zone: place.zone, meter: $0))
            }
            plans.append(plan)
        }
        // A lease that this replica has not read may exist, so read it before creating it.
        let unseen = plans.filter { $0.creation != nil && !progress.absent.contains($0.place) }
        guard unseen.isEmpty else {
            for (place, error) in try await see(unseen, &progress) {
                try fail(jobs.removeValue(forKey: place) ?? [], error, &refusals)
            }
            for refuse in refusals { refuse() }
            return jobs
        }
        let admission = try await admit(&plans, &jobs)
        let request = LeaseRequest(
            plans, sharesPulses: progress.sharesPulses, counters: admission.counters, keys: keys)
        progress.sharesPulses = false
        var again = admission.again
        if !plans.isEmpty {
            let answer = try await client.commit(request.transaction)
            requests.wrappingAdd(1, ordering: .relaxed)
            await settle(request.parts, answer, jobs, &again)
        }
        for refuse in refusals + admission.refusals { refuse() }
        return again
    }

    private func place(
        _ asked: [MeterPlace: [LeaseJob]], _ refusals: inout [() -> Void]
    ) async throws(EtcdError) -> (jobs: [MeterPlace: [LeaseJob]], books: [String: SeenAliases]) {
        var jobs: [MeterPlace: [LeaseJob]] = [:]
        var books: [String: SeenAliases] = [:]
        for (zone, places) in Dictionary(grouping: asked.keys, by: \.zone) {
            let few = places.flatMap { asked[$0] ?? [] }
            do throws(EtcdError) {
                let seen = try await aliases.aliases(of: zone)
                books[zone] = seen
                for job in few {
                    let place = MeterPlace(zone: zone, meter: seen.book.canonical(job.meter))
                    jobs[place, default: []].append(job)
                }
            } catch {
                try fail(few, error, &refusals)
            }
        }
        return (jobs, books)
    }

    /// Queues failures for jobs with damaged data. `round` delivers them once it can no longer throw, so that no job is
    /// answered twice.
    private func fail(
        _ jobs: [LeaseJob], _ error: EtcdError, _ refusals: inout [() -> Void]
    ) throws(EtcdError) {
        guard error.code == .damaged else { throw error }
        for job in jobs { refusals.append { job.fail(error) } }
    }

    private struct Admission {
        var counters: [LeaseCounters] = []
        /// Functions that deliver refusals, called once the accepted plans are stored.
        var refusals: [() -> Void] = []
        var again: [MeterPlace: [LeaseJob]] = [:]
    }

    private func admit(
        _ plans: inout [LeasePlan], _ jobs: inout [MeterPlace: [LeaseJob]]
    ) async throws(EtcdError) -> Admission {
        var admission = Admission()
        let created = Dictionary(grouping: plans.filter { $0.creation != nil }, by: \.place.zone)
        plans.removeAll { $0.creation != nil }
        for (zone, few) in created.sorted(by: { $0.key < $1.key }) {
            var counters = try await counters(of: zone, Array(Set(few.compactMap { $0.creation?.host })))
            for plan in few {
                guard let creation = plan.creation else { continue }
                guard let refuse = counters.add(plan.place.meter, for: creation.host) else {
                    plans.append(plan)
                    continue
                }
                if let job = jobs[plan.place]?.remove(at: creation.job) {
                    admission.refusals.append { refuse(job) }
                }
                if jobs[plan.place]?.isEmpty == false { admission.again[plan.place] = jobs[plan.place] }
            }
            if plans.contains(where: { $0.creation != nil && $0.place.zone == zone }) {
                admission.counters.append(counters)
            }
        }
        return admission
    }

    private func counters(of zone: String, _ hosts: [HostID]) async throws(EtcdError) -> LeaseCounters {
        let found = try await client.read(LeaseCounters.ranges(of: zone, hosts, keys)).ranges.map(\.entries.first)
        let uncounted = found[1] == nil ? try await client.countLeases(in: zone, keys) : 0
        return LeaseCounters(zone, hosts, found, uncounted: uncounted, keys)
    }

    private func settle(
        _ parts: [LeaseRequest.Part], _ answer: EtcdTransactionAnswer, _ jobs: [MeterPlace: [LeaseJob]],
        _ again: inout [MeterPlace: [LeaseJob]]
    ) async {
        let now = now()
        var failed: [LeasePlan] = []
        for part in parts {
            let plan = part.plan
            do throws(EtcdError) {
                let outcome = try plan.outcome(
                    of: answer.transaction(part.index), mayBeDoneBefore: answer.mayBeDoneBefore,
                    revision: answer.revision, keys: keys, now: now)
                // A shared comparison fails for all its plans even if only one lease changed, so decide them again
                // separately.
                if outcome == .failed, !part.isShared {
                    failed.append(plan)
                } else if !isSettled(plan, outcome) {
                    again[plan.place] = jobs[plan.place]
                }
            } catch {
                for job in jobs[plan.place] ?? [] { job.fail(error) }
            }
        }
        while !failed.isEmpty {
            let plans = failed.prefix(Self.looksPerRequest)
            failed.removeFirst(plans.count)
            do throws(EtcdError) {
                for (plan, found) in try await look(plans) {
                    do throws(EtcdError) {
                        let outcome = try plan.outcome(
                            of: found, mayBeDoneBefore: answer.mayBeDoneBefore && plan.creation != nil, revision: 0,
                            keys: keys, now: self.now())
                        if !isSettled(plan, outcome) { again[plan.place] = jobs[plan.place] }
                    } catch {
                        for job in jobs[plan.place] ?? [] { job.fail(error) }
                    }
                }
            } catch {
                for job in plans.flatMap({ jobs[$0.place] ?? [] }) { job.fail(error) }
            }
        }
    }

    /// Returns false if the plan must be decided again; otherwise delivers its answers.
    private func isSettled(_ plan: LeasePlan, _ outcome: LeasePlan.Outcome) -> Bool {
        switch outcome {
        case .done(let seen):
            leaseCache.update(seen, at: plan.place, isOwn: true)
            if plan.change == .pulse { pendingRenewals.add(plan.place, pulse: seen.pulse) }
            plan.deliver()
            return true
        case .changed(let found):
            update(found, of: plan)
            return false
        case .failed: return false
        }
    }

    private func look(
        _ plans: ArraySlice<LeasePlan>
    ) async throws(EtcdError) -> [(plan: LeasePlan, found: EtcdTransactionAnswer)] {
        let looks = plans.map { $0.look(keys) }
        var answers = try await client.read(looks.flatMap { $0 }).ranges[...]
        return zip(plans, looks).map { plan, look in
            let results = answers.prefix(look.count).map { EtcdResult.range($0) }
            answers = answers.dropFirst(look.count)
            return (plan, EtcdTransactionAnswer(revision: 0, succeeded: false, results: results))
        }
    }

    /// Reads the plans' leases. Returns the meters whose lease cannot be read, with the errors.
    private func see(
        _ unseen: [LeasePlan], _ progress: inout Progress
    ) async throws(EtcdError) -> [(MeterPlace, EtcdError)] {
        var failed: [(MeterPlace, EtcdError)] = []
        var rest = unseen[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.looksPerRequest)
            rest = rest.dropFirst(some.count)
            for (plan, found) in try await look(some) {
                do throws(EtcdError) {
                    if case .changed(let found) = try plan.outcome(of: found, revision: 0, keys: keys, now: now()) {
                        update(found, of: plan)
                    }
                    progress.absent.insert(plan.place)
                } catch {
                    failed.append((plan.place, error))
                }
            }
        }
        return failed
    }

    private func update(_ found: LeasePlan.Found, of plan: LeasePlan) {
        leaseCache.update(found.lease, at: plan.place)
        for (meter, lease) in found.others {
            leaseCache.update(lease, at: MeterPlace(zone: plan.place.zone, meter: meter))
        }
        if found.hasOtherAliases { aliases.forget(plan.place.zone, seen: plan.aliases.revision) }
    }
}
