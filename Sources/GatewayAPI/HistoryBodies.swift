/// A setting that was overwritten, in `GET /v1/meters/{meter}/history`. Unknown or not applicable is null.
package struct HistoryLine: Codable, Hashable, Sendable {
    /// Who wrote, and when by their own calendar.
    package struct Author: Codable, Hashable, Sendable {
        /// RFC 3339.
        package var at: String
        /// The host's name; null where nobody told it.
        package var host: String?
        /// null: nobody; the rebuild or the cloud's clean-up did it.
        package var host_id: String?
        /// The name of the host that brought it to the cloud, where that is not the one that wrote it; null where nobody
        /// told its name.
        package var brought_by: String?
        /// null: its author brought it, or nobody knows.
        package var brought_by_id: String?

        package init(
            at: String, host: String?, host_id: String?, brought_by: String? = nil, brought_by_id: String? = nil
        ) {
            self.at = at
            self.host = host
            self.host_id = host_id
            self.brought_by = brought_by
            self.brought_by_id = brought_by_id
        }

        /// Written out so that what is unknown is `null` and not missing.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(at, forKey: .at)
            try container.encode(host, forKey: .host)
            try container.encode(host_id, forKey: .host_id)
            try container.encode(brought_by, forKey: .brought_by)
            try container.encode(brought_by_id, forKey: .brought_by_id)
        }
    }

    package var key: String
    /// null: it was not set.
    package var old: String?
    /// null: it was taken back to its default, or all settings were deleted.
    package var new: String?
    /// All settings of the meter were deleted.
    package var deleted: Bool
    /// When and where the old value was written.
    package var written: Author
    /// When and where it was overwritten.
    package var overwritten: Author

    package init(key: String, old: String?, new: String?, deleted: Bool, written: Author, overwritten: Author) {
        self.key = key
        self.old = old
        self.new = new
        self.deleted = deleted
        self.written = written
        self.overwritten = overwritten
    }

    /// Written out so that what is unknown is `null` and not missing.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(old, forKey: .old)
        try container.encode(new, forKey: .new)
        try container.encode(deleted, forKey: .deleted)
        try container.encode(written, forKey: .written)
        try container.encode(overwritten, forKey: .overwritten)
    }
}

/// `GET /v1/meters/{meter}/history`: the latest loss first.
package struct HistoryBody: Codable, Hashable, Sendable {
    package var meter: String
    package var history: [HistoryLine]

    package init(meter: String, history: [HistoryLine]) {
        self.meter = meter
        self.history = history
    }
}
