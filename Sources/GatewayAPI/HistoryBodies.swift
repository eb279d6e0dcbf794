/// An overwritten setting in `GET /v1/meters/{meter}/history`. Unknown or not applicable is null.
package struct HistoryLine: Codable, Hashable, Sendable {
    /// Who wrote, and when by their own calendar.
    package struct Author: Codable, Hashable, Sendable {
        /// RFC 3339.
        package var at: String
        /// The host's name; null if unknown.
        @NullCodable package var host: String?
        /// Null if the rebuild or the cloud's clean-up wrote.
        @NullCodable package var host_id: String?
        /// The name of the host that brought it to the cloud, if that is not the author; null if the name is unknown.
        @NullCodable package var brought_by: String?
        /// Null if the author brought it, or if unknown.
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
    /// Null if it was not set.
    @NullCodable package var old: String?
    /// Null if it was reset to its default, or all settings were deleted.
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
