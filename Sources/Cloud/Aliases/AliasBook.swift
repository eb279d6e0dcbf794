package import Domain

/// Aliases of one zone that are in force for leases, and the fencing token floors that they raised. An engine accesses
/// it in the same atomic step as the leases (Docs/Decisions/0014-takeovers-and-aliases.md).
package struct AliasBook: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// Id that the alias stands for; may be an alias itself.
        package var meter: String
        /// Greatest fencing token older than the alias. A request under this alias with this or a smaller token does
        /// not refer to the meter's present lease.
        package var tokensBefore: FencingToken

        package init(meter: String, tokensBefore: FencingToken) {
            self.meter = meter
            self.tokensBefore = tokensBefore
        }
    }

    package private(set) var entries: [String: Entry]
    /// Fencing token that the next grant must exceed, by id. Omits an id if its lease's token already ensures this.
    package private(set) var floors: [String: FencingToken]
    private var meanings: [String: String]

    package init(entries: [String: Entry] = [:], floors: [String: FencingToken] = [:]) {
        self.entries = entries
        self.floors = floors
        meanings = AliasMap.flattened(entries.mapValues(\.meter))
    }

    /// Maximum number of ids of one meter, including the canonical one: an alias change handles all their leases in one
    /// atomic step.
    package static let idsPerMeter = 16
    /// Maximum number of present and former aliases in one zone: etcd stores them under one key.
    package static let entriesMax = 2000

    package func canonical(_ meter: String) -> String { meanings[meter] ?? meter }

    package func floor(of meter: String) -> FencingToken { floors[meter] ?? FencingToken(rawValue: 0) }

    /// Returns the lease that a request under `meter` refers to. `lease` reads the lease of an id, without following
    /// aliases.
    package func standing(
        of meter: String, _ lease: (String) throws -> LeaseRecord?
    ) rethrows -> LeaseSnapshot {
        let canonical = canonical(meter)
        var standing = LeaseSnapshot(meter: canonical, record: try lease(canonical), floor: floor(of: canonical))
        if canonical != meter {
            standing.alias = LeaseSnapshot.Alias(
                tokensBefore: entries[meter]?.tokensBefore ?? FencingToken(rawValue: 0), record: try lease(meter))
        }
        return standing
    }

    package func change(with record: SyncRecord) -> AliasChange? {
        guard record.key.type == .meterAlias, MeterID(record.key.name)?.description == record.key.name else {
            return nil
        }
        let meter = Self.meter(of: record)
        guard entries[record.key.name]?.meter != meter else { return nil }
        return AliasChange(record.key.name, means: meter, in: self)
    }

    static func meter(of record: SyncRecord) -> String? {
        guard !record.isTombstone, case .string(let text)? = record.properties["meter"]?.value,
            let meter = MeterID(text)?.description, meter != record.key.name
        else { return nil }
        return meter
    }

    func setting(_ alias: String, to meter: String?) -> AliasBook {
        var entries = entries
        entries[alias] = meter.map {
            Entry(meter: $0, tokensBefore: entries[alias]?.tokensBefore ?? FencingToken(rawValue: 0))
        }
        return AliasBook(entries: entries, floors: floors)
    }

    func moved(from other: AliasBook) -> [String] {
        Set(meanings.keys).union(other.meanings.keys).filter { canonical($0) != other.canonical($0) }.sorted()
    }

    func isTooLarge(with ids: some Sequence<String>) -> Bool {
        let meters = Set(ids.map { canonical($0) })
        let aliases = meanings.values.reduce(0) { $0 + (meters.contains($1) ? 1 : 0) }
        return entries.count + floors.count > Self.entriesMax || aliases >= Self.idsPerMeter
    }

    /// Makes the next fencing token of each id exceed `floor`, unless the lease's token already ensures this.
    mutating func raiseFloors(of ids: [String], to floor: FencingToken, _ leases: [String: LeaseRecord]) {
        for id in ids where leases[id].map({ $0.token < floor }) ?? true { floors[id] = floor }
    }

    mutating func setTokensBefore(_ token: FencingToken, of alias: String) { entries[alias]?.tokensBefore = token }
}
