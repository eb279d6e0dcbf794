package import Domain

/// The aliases in one zone that are in force for leases, and the floors that they raised.
///
/// An engine keeps it beside the leases, and reads and writes it in the same atomic step as those: a request's id is
/// resolved where the request is decided (Docs/Decisions/0014-takeovers-and-aliases.md).
package struct AliasBook: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// The id that the alias stands for, which may be an alias too.
        package var meter: String
        /// Tokens up to this one do not refer to the meter's present lease if given with the alias.
        package var tokensBefore: FencingToken

        package init(meter: String, tokensBefore: FencingToken) {
            self.meter = meter
            self.tokensBefore = tokensBefore
        }
    }

    /// By alias, what its record says.
    package private(set) var entries: [String: Entry]
    /// By id, the token that its next grant has to exceed, if its lease's own token does not ensure that.
    package private(set) var floors: [String: FencingToken]
    /// Each alias with the canonical id.
    private var meanings: [String: String]

    package init(entries: [String: Entry] = [:], floors: [String: FencingToken] = [:]) {
        self.entries = entries
        self.floors = floors
        meanings = AliasMap.flattened(entries.mapValues(\.meter))
    }

    /// Most ids of one meter, including its canonical one. A change names all of them in one step.
    package static let idsPerMeter = 16
    /// Most aliases, present and former, in one zone: etcd has them under one key.
    package static let entriesMax = 2000

    /// The id under which a meter is leased.
    package func canonical(_ meter: String) -> String { meanings[meter] ?? meter }

    package func floor(of meter: String) -> FencingToken { floors[meter] ?? FencingToken(rawValue: 0) }

    /// The lease that a request under `meter` refers to.
    ///
    /// - Parameter lease: reads the lease of exactly that id.
    package func standing(
        of meter: String, _ lease: (String) throws -> LeaseRecord?
    ) rethrows -> LeaseStanding {
        let canonical = canonical(meter)
        var standing = LeaseStanding(meter: canonical, record: try lease(canonical), floor: floor(of: canonical))
        if canonical != meter {
            standing.alias = LeaseStanding.Alias(
                tokensBefore: entries[meter]?.tokensBefore ?? FencingToken(rawValue: 0), record: try lease(meter))
        }
        return standing
    }

    /// The change of aliases that storing a record makes, if any.
    package func change(with record: SyncRecord) -> AliasChange? {
        guard record.key.type == .meterAlias, MeterID(record.key.name)?.description == record.key.name else {
            return nil
        }
        let meter = Self.meter(of: record)
        guard entries[record.key.name]?.meter != meter else { return nil }
        return AliasChange(record.key.name, means: meter, in: self)
    }

    /// The id that a `MeterAlias` record gives for its name, if any.
    static func meter(of record: SyncRecord) -> String? {
        guard !record.isTombstone, case .string(let text)? = record.properties["meter"]?.value,
            let meter = MeterID(text)?.description, meter != record.key.name
        else { return nil }
        return meter
    }

    /// The book with one entry more or less; tokens and floors are unchanged.
    func setting(_ alias: String, to meter: String?) -> AliasBook {
        var entries = entries
        entries[alias] = meter.map {
            Entry(meter: $0, tokensBefore: entries[alias]?.tokensBefore ?? FencingToken(rawValue: 0))
        }
        return AliasBook(entries: entries, floors: floors)
    }

    /// The ids with another canonical id than in `other`.
    func moved(from other: AliasBook) -> [String] {
        Set(meanings.keys).union(other.meanings.keys).filter { canonical($0) != other.canonical($0) }.sorted()
    }

    /// Whether there are more entries than a zone can have, or more ids than one of these meters can have.
    func isTooLarge(with ids: some Sequence<String>) -> Bool {
        let meters = Set(ids.map { canonical($0) })
        let aliases = meanings.values.reduce(0) { $0 + (meters.contains($1) ? 1 : 0) }
        return entries.count + floors.count > Self.entriesMax || aliases >= Self.idsPerMeter
    }

    /// From now on the next token of each id must exceed `floor`.
    ///
    /// - Parameter leases: those of the ids, whose tokens may ensure that already.
    mutating func raiseFloors(of ids: [String], to floor: FencingToken, _ leases: [String: LeaseRecord]) {
        for id in ids where leases[id].map({ $0.token < floor }) ?? true { floors[id] = floor }
    }

    mutating func setTokensBefore(_ token: FencingToken, of alias: String) { entries[alias]?.tokensBefore = token }
}
