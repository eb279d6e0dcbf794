package import Domain

/// A record, or part of one, that this host has but does not sync (`meterctl sync parked`).
package struct ParkedEntry: Codable, Hashable, Sendable {
    package enum Reason: String, Codable, Hashable, Sendable {
        /// The cloud refuses it. Its values remain in force here.
        case refused
        /// The cloud sent it, but it cannot be kept here.
        case unreadable
        /// Everything was read again, and the cloud did not list it. Whether it was deleted or lost is unknown.
        case unlisted
        /// Another host set it, in the zone that this host was in before.
        case otherZone
    }

    /// The id to give to `restore` and `drop`: a letter for the list, and a number that is not reused.
    package var id: String
    package var reason: Reason
    /// The reason in words.
    package var words: String
    package var type: String
    package var name: String
    /// Values as text, by property.
    package var values: [String: String]
    /// Whether a value of it was set on this host. Such an entry does not age.
    package var own: Bool
    /// The zone it was in; null if irrelevant.
    @NullCodable package var zone: String?
    /// When it was parked, milliseconds since 1970 by this host's calendar.
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

/// `GET /v1/sync/parked`: the latest first.
package struct ParkedBody: Codable, Hashable, Sendable {
    package var entries: [ParkedEntry]

    package init(entries: [ParkedEntry]) { self.entries = entries }
}

/// The answer to `restore` and `drop`.
package struct ParkedAnswer: Codable, Hashable, Sendable {
    package var id: String
    /// With `restore`: number of properties now waiting to be sent. Absent with `drop`.
    package var properties: Int?

    package init(id: String, properties: Int? = nil) {
        self.id = id
        self.properties = properties
    }
}
