package import Domain

/// Makes aliases effective for leases, if an older store has them only as records.
///
/// These aliases can no longer be refused, although a meter may be leased under two ids. A holder of the canonical id
/// keeps its lease; otherwise the holder with the greatest fencing token keeps it, under its own id. The other holders
/// lose the lease at their next renewal.
package struct AliasAdoption: Hashable, Sendable {
    package private(set) var book: AliasBook
    package private(set) var leases: [String: LeaseRecord] = [:]

    /// - Parameters:
    ///   - records: other types than `MeterAlias` are ignored. Aliases apply in order of their names; an alias that
    ///     would exceed the limits of `AliasBook` is ignored.
    ///   - lease: reads the lease of an id, without following aliases.
    package init(_ records: [SyncRecord], _ lease: (String) throws -> LeaseRecord?) rethrows {
        book = AliasBook()
        for record in records.sorted(by: { $0.key.name < $1.key.name }) {
            guard book.change(with: record) != nil, let meter = AliasBook.meter(of: record) else { continue }
            let next = book.setting(record.key.name, to: meter)
            if !next.isTooLarge(with: [record.key.name]) { book = next }
        }
        let classes = Dictionary(grouping: book.entries.keys) { [book] in book.canonical($0) }
        for (meter, aliases) in classes { try unite(meter, aliases.filter { $0 != meter }.sorted(), lease) }
    }

    private mutating func unite(
        _ meter: String, _ aliases: [String], _ lease: (String) throws -> LeaseRecord?
    ) rethrows {
        var found: [String: LeaseRecord] = [:]
        for id in [meter] + aliases { found[id] = try lease(id) }
        guard let floor = found.values.map(\.token).max() else { return }
        let isHeld = found[meter]?.holder != nil
        let successor = isHeld ? nil : aliases.filter { found[$0]?.holder != nil }.max { tokens(found, $0, $1) }
        for alias in aliases { book.setTokensBefore(floor, of: alias) }
        if let successor, let record = found[successor] {
            leases[meter] = record
            found[meter] = record
            book.setTokensBefore(
                FencingToken(rawValue: record.token.rawValue - min(1, record.token.rawValue)), of: successor)
        }
        for alias in aliases {
            guard var record = found[alias], record.holder != nil else { continue }
            record.state = .free
            leases[alias] = record
        }
        book.raiseFloors(of: [meter] + aliases, to: floor, found)
    }

    private func tokens(_ leases: [String: LeaseRecord], _ first: String, _ second: String) -> Bool {
        guard let one = leases[first], let other = leases[second] else { return false }
        return (one.token, second) < (other.token, first)
    }
}
