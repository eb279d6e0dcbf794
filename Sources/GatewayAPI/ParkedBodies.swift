/// `GET /v1/sync/parked`: records and parts of records that this host has and that are not synced, the latest first.
package struct ParkedBody: Codable, Hashable, Sendable {
    package struct Entry: Codable, Hashable, Sendable {
        /// What `restore` and `drop` take.
        package var id: String
        /// `refused` by the cloud, `unreadable` here, `unlisted` by the cloud when everything was read anew, or another
        /// host's in the zone before (`otherZone`).
        package var reason: String
        /// Why, in words.
        package var words: String
        package var type: String
        package var name: String
        /// By property, as text.
        package var values: [String: String]
        /// A value of it was set on this host. Such an entry does not age.
        package var own: Bool
        /// Where it stood; null where that does not matter.
        package var zone: String?
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

        /// Written out so that what is unknown is `null` and not missing.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(reason, forKey: .reason)
            try container.encode(words, forKey: .words)
            try container.encode(type, forKey: .type)
            try container.encode(name, forKey: .name)
            try container.encode(values, forKey: .values)
            try container.encode(own, forKey: .own)
            try container.encode(zone, forKey: .zone)
            try container.encode(at_ms, forKey: .at_ms)
        }
    }

    package var entries: [Entry]

    package init(entries: [Entry]) { self.entries = entries }
}

/// The answer to `restore` and `drop`.
package struct ParkedAnswer: Codable, Hashable, Sendable {
    package var id: String
    /// With `restore`: properties that wait to be told now. Absent with `drop`.
    package var properties: Int?

    package init(id: String, properties: Int? = nil) {
        self.id = id
        self.properties = properties
    }
}
