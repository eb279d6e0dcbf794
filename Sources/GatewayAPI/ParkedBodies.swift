package import Domain

/// A record, or part of one, that this host stores but excludes from sync (`meterctl sync parked`).
package struct ParkedEntry: Codable, Hashable, Sendable {
    package enum Reason: String, Codable, Hashable, Sendable {
        /// The cloud refused the values, which remain in force on this host.
        case refused
        /// The cloud sent the record, but this host cannot store it.
        case unreadable
        /// The cloud did not list the record in a full resync; it was deleted or lost.
        case unlisted
        /// Another host set the values in this host's previous zone.
        case otherZone
    }

    /// For `restore` and `drop`: `r` (refused or unreadable) or `a` (other reasons), and a number that is never reused.
    package var id: String
    package var reason: Reason
    package var words: String
    package var type: String
    package var name: String
    package var values: [String: String]
    /// Whether a value was set on this host; if so, the entry does not expire.
    package var own: Bool
    @NullCodable package var zone: String?
    /// When this host excluded the record: milliseconds since 1970 by its system clock.
    package var at_ms: Int64

    package init(
        id: String, reason: Reason, words: String, type: String, name: String, values: [String: String], own: Bool,
        zone: String?, at: WallTime
    ) {
        self.id = id
        self.reason = reason
        self.words = words
        self.type = type
        self.name = name
        self.values = values
        self.own = own
        self.zone = zone
        at_ms = at.millisecondsSince1970
    }
}

/// `GET /v1/sync/parked`: records excluded from sync, newest first.
package struct ParkedBody: Codable, Hashable, Sendable {
    package var entries: [ParkedEntry]

    package init(entries: [ParkedEntry]) { self.entries = entries }
}

/// Answer to restoring or dropping a record excluded from sync.
package struct ParkedAnswer: Codable, Hashable, Sendable {
    package var id: String
    /// Number of properties queued for sending; absent for `drop`.
    package var properties: Int?

    package init(id: String, properties: Int? = nil) {
        self.id = id
        self.properties = properties
    }
}
