package import Domain

/// Stores this host's logs about meters, not the logs that meters record themselves.
package protocol LogRepository: Sendable {
    /// Returns the greatest line number; 0 without a line.
    func lastLogNumber() async throws -> Int64
    /// Closes the `LogHolding` periods left open by an earlier run, at their last recorded time.
    func endHoldings(_ end: LogHolding.End) async throws
    /// Inserts or replaces lines by number, all or none. Keeps the newest `countMax` lines of each meter.
    ///
    /// - Throws: `StoreError` if a meter's id, once stored, would be parsed as another id.
    func keepLog(_ lines: [StoredLogLine], countMax: Int) async throws
    /// Returns the newest lines, at most `limit`, sorted by number.
    func log(of meters: [MeterID], limit: Int) async throws -> [StoredLogLine]
    /// Deletes lines that ended before `cutoff`, except open `LogHolding` periods and lines with unconfirmed dates
    /// (`RetentionRepository`). Returns the number of deleted lines.
    func pruneLog(before cutoff: WallTime) async throws -> Int
    func deleteLog(of meter: MeterID) async throws
}

package struct StoredLogLine: Hashable, Sendable {
    /// Rises with each line of this host, across all meters.
    package var number: Int64
    package var meter: MeterID
    package var entry: LogEntry

    package init(number: Int64, meter: MeterID, entry: LogEntry) {
        self.number = number
        self.meter = meter
        self.entry = entry
    }
}
