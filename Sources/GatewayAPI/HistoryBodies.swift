package struct HistoryLine: Codable, Hashable, Sendable {
    /// The writer, and the time by the writer's system clock.
    package struct Author: Codable, Hashable, Sendable {
        /// RFC 3339.
        package var at: String
        @NullCodable package var host: String?
        /// Null if the rebuild or the cloud's clean-up wrote the value.
        @NullCodable package var host_id: String?
        /// Name of the host that sent the value to the cloud, if not the author.
        @NullCodable package var brought_by: String?
        /// Id of the host in `brought_by`; null if that is null or unknown.
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
    @NullCodable package var old: String?
    /// Null after a reset, or if all settings of the meter were deleted.
    @NullCodable package var new: String?
    package var deleted: Bool
    package var written: Author
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

/// `GET /v1/meters/{meter}/history`, most recently overwritten value first.
package struct HistoryBody: Codable, Hashable, Sendable {
    package var meter: String
    package var history: [HistoryLine]

    package init(meter: String, history: [HistoryLine]) {
        self.meter = meter
        self.history = history
    }
}
