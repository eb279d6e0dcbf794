/// `GET /v1/sync/parked`: records and parts of records that this host has but does not sync, the latest first.
package struct ParkedBody: Codable, Hashable, Sendable {
    package struct Entry: Codable, Hashable, Sendable {
        /// The id to give to `restore` and `drop`.
        package var id: String
        /// `refused` by the cloud, `unreadable` here, `unlisted` by the cloud when everything was read again, or
        /// another host's in the former zone (`otherZone`).
        package var reason: String
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
            id: String, reason: String, words: String, type: String, name: String, values: [String: String], own: Bool,
            zone: String?, at_ms: Int64
        ) {
            self.id = id
            self.reason = reason
            self.words = words
            self.type = type
            self.name = name
            self.values = values
            self.own = own
            self.zone = zone
            self.at_ms = at_ms
        }
    }

    package var entries: [Entry]

    package init(entries: [Entry]) { self.entries = entries }
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
