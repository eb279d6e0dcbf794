import Cloud
import LeaseCore
import MeterModel

/// A lease as this copy saw it last.
///
/// `record.renewedAt` is when this copy saw, on its own clock, that the lease or its pulse had changed, or later. The
/// copy gives it away only by comparing both revisions: whatever another copy did since makes that fail
/// (Docs/Leases.md#rule-3).
struct SeenLease: Hashable, Sendable {
    /// nil means there never was a lease.
    var record: LeaseRecord?
    /// Of the lease's key; 0: it is not there.
    var revision: Int64 = 0
    /// Of its pulse; 0: it is not there.
    var pulse: Int64 = 0

    /// Nobody has told anything of it yet. Where that is wrong, the comparison fails, and tells how it is.
    static let unknown = SeenLease()
}

/// One decision about a lease, on its way.
struct LeaseJob: Sendable {
    /// The id under which the request came.
    let meter: String
    struct Step: Sendable {
        /// nil means leave it as it is.
        var record: LeaseRecord?
        /// Called once that is stored, or, where there is nothing to store, once it is sure that nothing has changed.
        var deliver: @Sendable () -> Void
    }

    /// What it decides depends on when the lease was renewed. A renewal's does not, so that copies that renew and look
    /// at the same lease are not in each other's way.
    var heedsTime: Bool
    var decide: @Sendable (LeaseStanding) -> Step
    var fail: @Sendable (EtcdError) -> Void
}

/// What several decisions about one lease come to: one comparison, and at most one change.
struct LeasePlan: Sendable {
    enum Change: Hashable, Sendable {
        case none
        /// Renewed, and nothing else.
        case pulse
        /// The value of the lease's key.
        case lease([UInt8])
    }

    /// Under its canonical id.
    let place: MeterPlace
    let basis: SeenLease
    /// By which `place` is that of all jobs.
    let aliases: SeenAliases
    /// The leases of other ids under which jobs came, each its own.
    private let others: [(meter: String, lease: SeenLease)]
    /// Afterwards.
    let record: LeaseRecord?
    let change: Change
    private let heedsTime: Bool
    private let deliveries: [@Sendable () -> Void]

    /// Each decides on what the one before it left.
    ///
    /// - Parameter own: the lease of exactly that id, as it was seen last.
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
        for job in jobs {
            let standing = aliases.book.standing(of: job.meter) { [others] meter in
                meter == place.meter ? record : others.first { $0.meter == meter }?.lease.record
            }
            let step = job.decide(standing)
            if let next = step.record {
                record = next
                isRenewed = true
            }
            deliveries.append(step.deliver)
        }
        self.record = record
        self.deliveries = deliveries
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

    /// Decided by itself, beside others in one request.
    func operation(_ keys: StoreKeys) -> EtcdOperation {
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
        if change != .pulse || heedsTime {
            transaction.compares.append(EtcdCompare(key: pulse, revision: basis.pulse))
        }
        switch change {
        case .none: break
        case .pulse: transaction.success = [.put(key: pulse, value: [])]
        case .lease(let value): transaction.success = [.put(key: lease, value: value)]
        }
        // Renewals are most of what etcd has to do, and hardly ever fail: they look afterwards.
        if change != .pulse { transaction.failure = look(keys).map { .range($0) } }
        return .transaction(transaction)
    }

    /// What tells how it is, where it is not as the plan took it to be.
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
        /// Somebody else was quicker. Decide anew, on this.
        case changed(Found)
        /// The same, and how it is the answer does not tell: `look`.
        case failed
    }

    /// How it is, where it is not as the plan took it to be.
    struct Found: Hashable, Sendable {
        var lease: SeenLease
        /// Other ids' own leases that are there.
        var others: [String: SeenLease] = [:]
        /// Another copy has changed the zone's aliases.
        var hasOtherAliases = false
    }

    /// - Parameters:
    ///   - mayBeDoneBefore: the same was sent before, and no answer came.
    ///   - revision: that of all that the request wrote.
    ///   - now: after the answer: the lease changed at the latest then.
    /// - Throws: `timedOut` where nobody can say whether it was done: to decide it anew might do it twice.
    func outcome(
        of answer: EtcdTransactionAnswer?, mayBeDoneBefore: Bool = false, revision: Int64, keys: StoreKeys,
        now: MonotonicTime
    ) throws(EtcdError) -> Outcome {
        guard let answer else {
            throw EtcdError(.garbage, "etcd left out an answer about \(place.meter). See its version")
        }
        guard !answer.succeeded else {
            return switch change {
            case .none: .done(basis)
            case .pulse: .done(SeenLease(record: record, revision: basis.revision, pulse: revision))
            case .lease: .done(SeenLease(record: record, revision: revision, pulse: basis.pulse))
            }
        }
        if change == .pulse, answer.results.isEmpty { return .failed }
        guard let leases = answer.range(0), let pulses = answer.range(1) else {
            throw EtcdError(.garbage, "etcd left out an answer about \(place.meter). See its version")
        }
        let pulse = pulses.entries.first?.revision ?? 0
        var found = try others(in: answer, at: now)
        guard let entry = leases.entries.first else {
            found.lease = SeenLease(record: nil, pulse: pulse)
            return .changed(found)
        }
        if case .lease(let value) = change {
            if entry.value == value {
                // It is what this very plan writes: it was written, and the answer was lost.
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

    /// All but the lease itself.
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
    /// - Throws: `damaged`.
    init(_ entry: EtcdEntry, pulse: Int64, at now: MonotonicTime) throws(EtcdError) {
        self = try Self.read(entry, pulse: pulse, at: now).seen
    }

    /// - Returns: the lease, and which copy wrote it.
    /// - Throws: `damaged`.
    static func read(
        _ entry: EtcdEntry, pulse: Int64, at now: MonotonicTime
    ) throws(EtcdError) -> (seen: SeenLease, writer: String) {
        let stored = try StoredLease(entry)
        guard let record = stored.record(renewedAt: now) else {
            throw EtcdError(damaged: entry.key, "something in this lease means nothing")
        }
        return (SeenLease(record: record, revision: entry.revision, pulse: pulse), stored.writer)
    }
}
