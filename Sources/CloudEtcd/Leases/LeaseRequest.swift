import Cloud

struct LeaseRequest {
    struct Part {
        var plan: LeasePlan
        var index: Int
        var isShared = false
    }

    private(set) var transaction = EtcdTransaction()
    private(set) var parts: [Part] = []

    /// Combines plans, each with its own comparisons. Also writes the lease generation (`g/<zone>`) of each zone in
    /// which a holder or a state may change.
    ///
    /// - Parameters:
    ///   - sharesPulses: puts all renewals, which hardly ever fail, into one nested transaction with shared
    ///     comparisons.
    ///   - counters: counters of the zones in which leases are created. A zone's creations share one nested
    ///     transaction, because they raise the same counter.
    init(_ plans: [LeasePlan], sharesPulses: Bool, counters: [LeaseCounters] = [], keys: StoreKeys) {
        let pulses = sharesPulses ? plans.filter(\.isBarePulse) : []
        var shared = EtcdTransaction()
        var compares: Set<EtcdCompare> = []
        for plan in pulses {
            let own = plan.transaction(keys)
            shared.compares += own.compares.filter { compares.insert($0).inserted }
            shared.success += own.success
            parts.append(Part(plan: plan, index: 0, isShared: true))
        }
        if !pulses.isEmpty { transaction.success.append(.transaction(shared)) }
        var zones: Set<String> = []
        for counter in counters {
            var created = counter.transaction(keys)
            var compares: Set<EtcdCompare> = []
            for plan in plans where plan.creation != nil && plan.place.zone == counter.zone {
                let own = plan.transaction(keys)
                created.compares += own.compares.filter { compares.insert($0).inserted }
                created.success += own.success
                parts.append(Part(plan: plan, index: transaction.success.count))
                zones.insert(counter.zone)
            }
            transaction.success.append(.transaction(created))
        }
        for plan in plans where plan.creation == nil && (!sharesPulses || !plan.isBarePulse) {
            parts.append(Part(plan: plan, index: transaction.success.count))
            transaction.success.append(.transaction(plan.transaction(keys)))
            if case .lease = plan.change { zones.insert(plan.place.zone) }
        }
        transaction.success += zones.sorted().map { .put(key: keys.leaseGeneration($0), value: []) }
    }
}
