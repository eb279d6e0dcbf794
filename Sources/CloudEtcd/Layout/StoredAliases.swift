import Cloud
import Domain

/// Aliases in force in one zone, under one key. Each lease decision fails if the revision of this key has changed.
struct StoredAliases: StoredValue, Hashable {
    struct Alias: Codable, Hashable, Sendable {
        var meter: String
        /// Equals `tokensBefore` of `AliasBook.Entry`.
        var before: UInt64
    }

    var aliases: [String: Alias]
    /// Equals `floors` of `AliasBook`.
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
