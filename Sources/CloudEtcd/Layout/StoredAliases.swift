import Cloud
import Domain

/// Aliases in force in one zone, under one key. Each decision about a lease compares the revision of this key.
struct StoredAliases: StoredValue, Hashable {
    struct Alias: Codable, Hashable, Sendable {
        var meter: String
        /// Greatest old lease token: in a request under this alias, a token up to this one does not refer to the
        /// meter's present lease.
        var before: UInt64
    }

    var aliases: [String: Alias]
    /// For ids whose token floor an alias raised above the lease's own token: the token that the next one must exceed.
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
