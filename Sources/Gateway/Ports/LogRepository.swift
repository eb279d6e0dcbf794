package import Domain

/// Stores this host's logs of meters, not the logs that meters record by themselves.
package protocol LogRepository: Sendable {
    /// Returns the greatest line number; 0 without a line.
    func lastLogNumber() async throws -> Int64
    /// Closes the holdings (periods in which this host held a meter) that an earlier run left open. Their last recorded
    /// time becomes the end time.
    func endHoldings(_ end: LogHolding.End) async throws
    /// Inserts or replaces lines by number, all or none. Keeps the newest `countMax` lines of each meter.
    ///
    /// - Throws: `StoreError` if a meter's id would be read back as another id.
    func keepLog(_ lines: [StoredLogLine], countMax: Int) async throws
    /// Returns the newest lines, at most `limit`, in the order of their numbers.
    func log(of meters: [MeterID], limit: Int) async throws -> [StoredLogLine]
    /// Deletes lines that ended before `cutoff`, except open holdings and lines with unconfirmed dates
    /// (`RetentionRepository`). Returns the number of lines deleted.
    func pruneLog(before cutoff: WallTime) async throws -> Int
    func deleteLog(of meter: MeterID) async throws
}

package struct StoredLogLine: Hashable, Sendable {
    /// Line number, which rises with each line of this host across all meters.
    package var number: Int64
    package var meter: MeterID
    package var entry: LogEntry

    package init(number: Int64, meter: MeterID, entry: LogEntry) {
        self.number = number
        self.meter = meter
        self.entry = entry
    }
}
