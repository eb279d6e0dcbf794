import Cloud
import Domain

/// A lease as last read by this replica.
///
/// `record.renewedAt` is a time of this replica's monotonic clock, not earlier than the last grant or renewal. A
/// request that gives the lease to another host compares the revisions of the lease and of its pulse (the key that each
/// renewal changes). It fails if another replica has renewed or changed the lease (Docs/Leases.md#rule-3).
struct SeenLease: Hashable, Sendable {
    var record: LeaseRecord?
    /// Revision of the lease's key; 0 if it does not exist.
    var revision: Int64 = 0
    /// Revision of the pulse (the key that each renewal changes); 0 if it does not exist.
    var pulse: Int64 = 0

    /// A lease that this replica has not read. If it exists, the comparison with revision 0 fails, and the answer
    /// contains it.
    static let unknown = SeenLease()
}

struct LeaseJob: Sendable {
    let meter: String
    struct Step: Sendable {
        /// Record to store; nil keeps the stored one.
        var record: LeaseRecord?
        /// Called once the record is stored or, without a record, once etcd has confirmed the lease.
        var deliver: @Sendable () -> Void
    }

    /// Whether the decision depends on the renewal time, so that its request compares the pulse (the key that each
    /// renewal changes). False for renewals.
    var heedsTime: Bool
    var decide: @Sendable (LeaseSnapshot) -> Step
    var fail: @Sendable (EtcdError) -> Void
    /// Called if a quota forbids the creation of the lease.
    var refuse: @Sendable (CloudFailure) -> Void = { _ in }
}

/// Decisions about one lease, combined into one comparison and at most one change.
struct LeasePlan: Sendable {
    enum Change: Hashable, Sendable {
        case none
        case pulse
        case lease([UInt8])
    }

    let place: MeterPlace
    let basis: SeenLease
    let aliases: SeenAliases
    /// Leases stored under other ids of the meter.
    private let others: [(meter: String, lease: SeenLease)]
    let record: LeaseRecord?
    let change: Change
    /// Index of the job, and the host, that create the lease; nil if none does.
    let creation: (job: Int, host: HostID?)?
    private let heedsTime: Bool
    private let deliveries: [@Sendable () -> Void]

    /// Decides the jobs in order, each on the result of the previous one.
    ///
    /// - Parameter own: returns the lease under exactly this meter id, without following aliases.
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
        // A new lease has no pulse (the key that each renewal changes) to compare.
        if creation == nil, change != .pulse || heedsTime {
            transaction.compares.append(EtcdCompare(key: pulse, revision: basis.pulse))
        }
        switch change {
        case .none: break
        case .pulse: transaction.success = [.put(key: pulse, value: [])]
        case .lease(let value): transaction.success = [.put(key: lease, value: value)]
        }
        // Renewals are most of etcd's work and hardly ever fail, so a failed one reads the state in another request
        // (`look`). So does a failed creation, because creations share one nested transaction.
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
        /// Another writer changed the lease first. Decide again on this state.
        case changed(Found)
        /// As `changed`, but the answer lacks the new state. Read it with `look`.
        case failed
    }

    struct Found: Hashable, Sendable {
        var lease: SeenLease
        var others: [String: SeenLease] = [:]
        var hasOtherAliases = false
    }

    /// - Parameters:
    ///   - mayBeDoneBefore: whether an earlier attempt of the same request got no answer.
    ///   - revision: revision of everything that the request wrote.
    /// - Throws: `timedOut` if it is unknown whether the plan was carried out. It is then not decided again, because it
    ///   might be carried out twice.
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
                // The stored lease is ours: an earlier attempt's answer was lost.
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

    /// - Returns: the decoded lease, and the name of the replica that wrote it.
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
