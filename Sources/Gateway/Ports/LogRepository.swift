package import Domain

/// Keeps what happened to meters on this host: their logs, not the logs that meters record by themselves.
package protocol LogRepository: Sendable {
    /// The greatest number that a line has; 0 if there is no line.
    func lastLogNumber() async throws -> Int64
    /// Ends the holdings that go on, as those of a run that is over. When they ended, nobody knows: their last moment stays.
    func endHoldings(_ end: LogHolding.End) async throws
    /// Inserts lines, or replaces those with the same numbers; all of them or none. Of each of their meters the newest
    /// `countMax` lines are kept.
    ///
    /// - Throws: `StoreError` for a meter whose id does not read back as the same.
    func keepLog(_ lines: [StoredLogLine], countMax: Int) async throws
    /// The newest lines of these meters, at most `limit`, in the order of their numbers.
    func log(of meters: [MeterID], limit: Int) async throws -> [StoredLogLine]
    /// Deletes the lines that ended before `cutoff`, but for those with dates that nobody confirmed
    /// (`RetentionRepository`), and for holdings that go on.
    ///
    /// - Returns: number of lines deleted.
    func pruneLog(before cutoff: WallTime) async throws -> Int
    /// Deletes all lines of a meter.
    func deleteLog(of meter: MeterID) async throws
}

/// A line of a meter's log as it is stored.
package struct StoredLogLine: Hashable, Sendable {
    /// Rises with each line of this host, whatever meter it is about.
    package var number: Int64
    package var meter: MeterID
    package var entry: LogEntry

    package init(number: Int64, meter: MeterID, entry: LogEntry) {
        self.number = number
        self.meter = meter
        self.entry = entry
    }
}
