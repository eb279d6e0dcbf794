package import Domain

/// A change or removal of an alias, with its effect on leases.
package struct AliasChange: Hashable, Sendable {
    /// Meters whose leases decide whether the change is accepted.
    package let meters: [String]
    /// Previous canonical ids of all ids that get another canonical id. The change is refused if a host holds a lease
    /// of one of them.
    private let leaving: Set<String>
    private let moved: [String]
    private let book: AliasBook
    private let isWrite: Bool

    /// - Parameter meter: nil to remove the alias.
    init(_ alias: String, means meter: String?, in before: AliasBook) {
        book = before.setting(alias, to: meter)
        moved = book.moved(from: before)
        leaving = Set(moved.map { before.canonical($0) })
        meters = leaving.union(moved).union(moved.map { [book] in book.canonical($0) }).sorted()
        isWrite = meter != nil
    }

    package enum Decision: Hashable, Sendable {
        /// - Parameter freed: expired leases that were never released, to be stored as free.
        case accepted(AliasBook, freed: [String: LeaseRecord])
        case held(meter: String, by: String)
        case tooMany
    }

    /// - Parameter leases: leases of `meters`.
    package func decide(_ leases: [String: LeaseRecord], at now: MonotonicTime) -> Decision {
        var freed: [String: LeaseRecord] = [:]
        for meter in leaving.sorted() {
            guard var lease = leases[meter], let holder = lease.holder else { continue }
            guard lease.isOver(at: now) else { return .held(meter: meter, by: holder.hostName) }
            lease.state = .free
            freed[meter] = lease
        }
        let floor = meters.map { max(leases[$0]?.token ?? book.floor(of: $0), book.floor(of: $0)) }.max()
        var next = book
        if let floor, floor.rawValue > 0 {
            next.raiseFloors(of: meters, to: floor, leases)
            for alias in moved { next.setTokensBefore(floor, of: alias) }
        }
        guard !isWrite || !next.isTooLarge(with: moved) else { return .tooMany }
        return .accepted(next, freed: freed)
    }
}
