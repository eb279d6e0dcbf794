import Cloud
import LeaseCore
import MeterModel

/// All aliases of one zone that are in force, under one key: each decision about a lease compares its revision.
struct StoredAliases: StoredValue, Hashable {
    struct Alias: Codable, Hashable, Sendable {
        var meter: String
        /// Tokens up to it, said under the alias, are none of the meter's lease.
        var before: UInt64
    }

    var aliases: [String: Alias]
    /// What the next token of an id has to exceed, where an alias raised that above the lease's own.
    var floors: [String: UInt64]

    init(_ book: AliasBook) {
        aliases = book.entries.mapValues { Alias(meter: $0.meter, before: $0.tokensBefore.rawValue) }
        floors = book.floors.mapValues(\.rawValue)
    }

    var book: AliasBook {
        AliasBook(
            entries: aliases.mapValues {
                AliasBook.Entry(meter: $0.meter, tokensBefore: FencingToken(rawValue: $0.before))
            },
            floors: floors.mapValues { FencingToken(rawValue: $0) })
    }
}
