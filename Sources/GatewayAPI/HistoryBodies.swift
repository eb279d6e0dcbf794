/// A setting that was overwritten, in `GET /v1/meters/{meter}/history`. Unknown or not applicable is null.
package struct HistoryLine: Codable, Hashable, Sendable {
    /// Who wrote, and when by their own calendar.
    package struct Author: Codable, Hashable, Sendable {
        /// RFC 3339.
        package var at: String
        /// The host's name; null where nobody told it.
        @NullCodable package var host: String?
        /// null: nobody; the rebuild or the cloud's clean-up did it.
        @NullCodable package var host_id: String?
        /// The name of the host that brought it to the cloud, where that is not the one that wrote it; null where nobody
        /// told its name.
        @NullCodable package var brought_by: String?
        /// null: its author brought it, or nobody knows.
        @NullCodable package var brought_by_id: String?

        package init(
            at: String, host: String?, host_id: String?, brought_by: String? = nil, brought_by_id: String? = nil
        ) {
            self.at = at
            self.host = host
            self.host_id = host_id
            self.brought_by = brought_by
            self.brought_by_id = brought_by_id
        }
    }

    package var key: String
    /// null: it was not set.
    @NullCodable package var old: String?
    /// null: it was taken back to its default, or all settings were deleted.
    @NullCodable package var new: String?
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
