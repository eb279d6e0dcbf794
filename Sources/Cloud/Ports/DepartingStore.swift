package import Domain

/// A store whose contents move to another one (`metercloud migrate`). No other program uses the store during the move.
///
/// The move includes everything that hosts rely on:
///
/// - the epoch
/// - the zones' identities, marks and sequences, so that change tokens remain valid
/// - the leases with their fencing tokens, even free ones
/// - the credentials
///
/// Lease queues do not move: hosts queue again.
package protocol DepartingStore: Sendable {
    /// Returns everything except the leases and the records, which may be many.
    func contents() async throws -> StoreContents
    /// Returns leases by meter, including free ones. Renewal times are not moved: a lease counts as renewed when the
    /// new store first reads it.
    ///
    /// - Parameters:
    ///   - meter: last meter of the previous call; nil to begin with the first meter.
    ///   - limit: at least 1.
    func leases(in zone: String, after meter: String?, limit: Int) async throws -> [(
        meter: String, record: LeaseRecord
    )]
    /// Returns records by sequence, including tombstones.
    func records(in zone: String, after sequence: UInt64, limit: Int) async throws -> [PlacedRecord]
    /// Closes the store permanently and durably: reopened, it would be a second cloud that hosts mistake for the first.
    ///
    /// - Parameter destination: shown to people, and used to recognise a repeated attempt.
    func depart(to destination: String, at now: WallTime) async throws
}

package struct StoreContents: Hashable, Sendable {
    package struct OneZone: Hashable, Sendable {
        package var zone: Zone
        /// Greatest sequence of a purged tombstone; 0 if there was none.
        package var floor: UInt64
        /// Greatest time of an accepted stamp, in milliseconds since 1970; 0 if there was none.
        package var accepted: UInt64
        package var marks: [TimelineMark]
        package var aliases: AliasBook
        package var leases: LeaseUsage

        package init(
            zone: Zone, floor: UInt64, accepted: UInt64, marks: [TimelineMark], aliases: AliasBook, leases: LeaseUsage
        ) {
            self.leases = leases
            self.aliases = aliases
            self.marks = marks
            self.zone = zone
            self.floor = floor
            self.accepted = accepted
        }
    }

    package var epoch: String
    package var tokenFloor: FencingToken
    /// Whether the store was restored and still waits for former holders to stop.
    package var isRestoring: Bool
    package var zones: [OneZone]
    package var credentials: [Credential]
    /// Destination of a finished move; nil for a store in use.
    package var destination: String?

    package init(
        epoch: String, tokenFloor: FencingToken, isRestoring: Bool, zones: [OneZone], credentials: [Credential],
        destination: String?
    ) {
        self.epoch = epoch
        self.tokenFloor = tokenFloor
        self.isRestoring = isRestoring
        self.zones = zones
        self.credentials = credentials
        self.destination = destination
    }
}

package struct PlacedRecord: Hashable, Sendable {
    package var record: SyncRecord
    package var sequence: UInt64
    /// Date from which a tombstone's age counts; nil for other records.
    package var tombstoneTime: WallTime?

    package init(record: SyncRecord, sequence: UInt64, tombstoneTime: WallTime?) {
        self.record = record
        self.sequence = sequence
        self.tombstoneTime = tombstoneTime
    }
}
