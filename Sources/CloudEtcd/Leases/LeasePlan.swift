import Cloud
import Domain

/// A lease as last read by this replica.
///
/// `record.renewedAt` is the time on this replica's clock at which it noticed a change of the lease or its pulse, or
/// later. The replica compares both revisions before it gives the lease away. The comparison fails if another replica
/// has renewed or changed the lease since (Docs/Leases.md#rule-3).
struct SeenLease: Hashable, Sendable {
    var record: LeaseRecord?
    /// Revision of the lease's key; 0 if it does not exist.
    var revision: Int64 = 0
    /// Revision of the pulse; 0 if it does not exist.
    var pulse: Int64 = 0

    /// A lease that this replica has not read. If the lease exists, the comparison fails, and the answer contains the
    /// stored lease.
    static let unknown = SeenLease()
}

struct LeaseJob: Sendable {
    let meter: String
    struct Step: Sendable {
        /// Record to store; nil keeps the stored one.
        var record: LeaseRecord?
        /// Called once the record is stored. If there is no record, called once etcd has confirmed that the lease is
        /// unchanged.
        var deliver: @Sendable () -> Void
    }

    /// Whether the decision depends on the lease's renewal time. False for renewals, so replicas that renew and read
    /// the same lease do not conflict.
    var heedsTime: Bool
    var decide: @Sendable (LeaseSnapshot) -> Step
    var fail: @Sendable (EtcdError) -> Void
    /// Called if a quota does not allow the lease to be created.
    var refuse: @Sendable (CloudFailure) -> Void = { _ in }
}

/// Combined decisions about one lease: one comparison, and at most one change.
struct LeasePlan: Sendable {
    enum Change: Hashable, Sendable {
        case none
        case pulse
        case lease([UInt8])
    }

    let place: MeterPlace
    let basis: SeenLease
    /// Aliases that map the meter ids of all jobs to `place`.
    let aliases: SeenAliases
    /// Leases stored under the jobs' other meter ids, which are aliases of `place`.
    private let others: [(meter: String, lease: SeenLease)]
    let record: LeaseRecord?
    let change: Change
    /// The job and the host that create the lease; nil if nothing is created.
    let creation: (job: Int, host: HostID?)?
    private let heedsTime: Bool
    private let deliveries: [@Sendable () -> Void]

    /// Decides the jobs in order, each based on the result of the previous job.
    ///
    /// - Parameter own: returns the lease stored under a meter id itself, without following aliases, as last read.
    init(
        _ jobs: [LeaseJob], at place: MeterPlace, aliases: SeenAliases, writer: String, own: (String) -> SeenLease
    ) throws(EtcdError) {
        self.place = place
        self.aliases = aliases
        basis = own(place.meter)
        others = Set(jobs.map(\.meter)).filter { $0 != place.meter }.sorted().map { ($0, own($0)) }
        heedsTime = jobs.contains { $0.heedsTime }
        var record = basis.record
        var isRenewed = false
        var deliveries: [@Sendable () -> Void] = []
        var creation: (job: Int, host: HostID?)?
        for (index, job) in jobs.enumerated() {
            let standing = aliases.book.standing(of: job.meter) { [others] meter in
                meter == place.meter ? record : others.first { $0.meter == meter }?.lease.record
            }
            let step = job.decide(standing)
            if let next = step.record {
                if record == nil { creation = (index, next.holder?.host) }
                record = next
                isRenewed = true
            }
            deliveries.append(step.deliver)
        }
        self.record = record
        self.deliveries = deliveries
        self.creation = creation
        var unrenewed = record
        unrenewed?.renewedAt = basis.record?.renewedAt ?? .origin
        var before = basis.record
        before?.renewedAt = unrenewed?.renewedAt ?? .origin
        if let record, unrenewed != before {
            change = .lease(try StoredLease(record, writer: writer).bytes)
        } else {
            change = isRenewed ? .pulse : .none
        }
    }

    /// Whether the plan is only a renewal, which may share a transaction with others.
    var isBarePulse: Bool { change == .pulse && !heedsTime && others.isEmpty }

    func transaction(_ keys: StoreKeys) -> EtcdTransaction {
        let lease = keys.lease(of: place.meter, in: place.zone)
        let pulse = keys.pulse(of: place.meter, in: place.zone)
        var transaction = EtcdTransaction()
        transaction.compares = [
            EtcdCompare(key: lease, revision: basis.revision),
            EtcdCompare(key: keys.aliases(of: place.zone), revision: aliases.revision),
        ]
        transaction.compares += others.map { other in
            EtcdCompare(key: keys.lease(of: other.meter, in: place.zone), revision: other.lease.revision)
        }
        // A lease that does not exist yet has no pulse key to compare.
        if creation == nil, change != .pulse || heedsTime {
            transaction.compares.append(EtcdCompare(key: pulse, revision: basis.pulse))
        }
        switch change {
        case .none: break
        case .pulse: transaction.success = [.put(key: pulse, value: [])]
        case .lease(let value): transaction.success = [.put(key: lease, value: value)]
        }
        // Renewals are most of etcd's work and hardly ever fail, so their state is read only after a failure. The same
        // applies to creations, which share one nested transaction.
        if change != .pulse, creation == nil { transaction.failure = look(keys).map { .range($0) } }
        return transaction
    }

    func look(_ keys: StoreKeys) -> [EtcdRange] {
        var book = EtcdRange(key: keys.aliases(of: place.zone))
        book.isKeysOnly = true
        let lease = EtcdRange(key: keys.lease(of: place.meter, in: place.zone))
        let pulse = EtcdRange(key: keys.pulse(of: place.meter, in: place.zone))
        return [lease, pulse, book] + others.map { EtcdRange(key: keys.lease(of: $0.meter, in: place.zone)) }
    }

    func deliver() { for delivery in deliveries { delivery() } }

    enum Outcome: Hashable, Sendable {
        case done(SeenLease)
        /// Another writer changed the lease first: decide again on this state.
        case changed(Found)
        /// Another writer changed the lease first, and the answer does not contain the new state. Read that with
        /// `look`.
        case failed
    }

    struct Found: Hashable, Sendable {
        var lease: SeenLease
        var others: [String: SeenLease] = [:]
        var hasOtherAliases = false
    }

    /// Returns the outcome of the plan.
    ///
    /// - Parameters:
    ///   - mayBeDoneBefore: whether an earlier attempt sent the same request and got no answer.
    ///   - revision: revision of everything that the request wrote.
    ///   - now: time after etcd's answer, so no earlier than the change of the lease.
    /// - Throws: `timedOut` if it is unknown whether the plan was carried out. The plan is then not decided again,
    ///   because it might be carried out twice.
    func outcome(
        of answer: EtcdTransactionAnswer?, mayBeDoneBefore: Bool = false, revision: Int64, keys: StoreKeys,
        now: MonotonicTime
    ) throws(EtcdError) -> Outcome {
        guard let answer else {
            throw EtcdError(.garbage, "etcd gave no answer about \(place.meter). See its version")
        }
        guard !answer.succeeded else {
            return switch change {
            case .none: .done(basis)
            case .pulse: .done(SeenLease(record: record, revision: basis.revision, pulse: revision))
            case .lease: .done(SeenLease(record: record, revision: revision, pulse: basis.pulse))
            }
        }
        if change == .pulse || creation != nil, answer.results.isEmpty { return .failed }
        guard let leases = answer.range(0), let pulses = answer.range(1) else {
            throw EtcdError(.garbage, "etcd gave no answer about \(place.meter). See its version")
        }
        let pulse = pulses.entries.first?.revision ?? 0
        var found = try others(in: answer, at: now)
        guard let entry = leases.entries.first else {
            found.lease = SeenLease(record: nil, pulse: pulse)
            return .changed(found)
        }
        if case .lease(let value) = change {
            if entry.value == value {
                // An earlier attempt of this plan wrote the value, but its answer was lost.
                return .done(SeenLease(record: record, revision: entry.revision, pulse: pulse))
            }
            guard !mayBeDoneBefore || entry.revision == basis.revision else {
                throw EtcdError(
                    .timedOut,
                    "it is not known whether \(place.meter) was changed: etcd's answer was lost, and somebody else has "
                        + "changed it since. Ask again")
            }
        }
        found.lease = try SeenLease(entry, pulse: pulse, at: now)
        return .changed(found)
    }

    private func others(in answer: EtcdTransactionAnswer, at now: MonotonicTime) throws(EtcdError) -> Found {
        var found = Found(lease: .unknown)
        found.hasOtherAliases = answer.range(2)?.entries.first?.revision ?? 0 != aliases.revision
        for (index, other) in others.enumerated() {
            guard let entry = answer.range(3 + index)?.entries.first else { continue }
            found.others[other.meter] = try SeenLease(entry, pulse: 0, at: now)
        }
        return found
    }
}

extension SeenLease {
    init(_ entry: EtcdEntry, pulse: Int64, at now: MonotonicTime) throws(EtcdError) {
        self = try Self.read(entry, pulse: pulse, at: now).seen
    }

    /// Decodes a stored lease.
    ///
    /// - Returns: the lease, and the name of the replica that wrote it.
    static func read(
        _ entry: EtcdEntry, pulse: Int64, at now: MonotonicTime
    ) throws(EtcdError) -> (seen: SeenLease, writer: String) {
        let stored = try StoredLease(entry)
        guard let record = stored.record(renewedAt: now) else {
            throw EtcdError(damaged: entry.key, "this lease has an invalid value")
        }
        return (SeenLease(record: record, revision: entry.revision, pulse: pulse), stored.writer)
    }
}
