package import Domain

/// A store whose contents move to another one (`metercloud migrate`), and that nothing else uses meanwhile.
///
/// Everything that hosts rely on moves: the epoch, the zones' identities and marks, and the sequences, so that their
/// change tokens stay valid; the leases with their fencing tokens, even free ones; the credentials. Lease queues do
/// not: they are transient, and hosts queue again at the new store.
package protocol DepartingStore: Sendable {
    /// Everything except the leases and the records, of which there may be many.
    func contents() async throws -> StoreContents
    /// Every lease there ever was in a zone, by meter. Renewal times do not move: the new store counts from when it
    /// reads the leases.
    ///
    /// - Parameters:
    ///   - meter: returns leases after it; nil to begin with the first.
    ///   - limit: at least 1.
    func leases(in zone: String, after meter: String?, limit: Int) async throws -> [(
        meter: String, record: LeaseRecord
    )]
    /// A zone's records by sequence, including tombstones.
    func records(in zone: String, after sequence: UInt64, limit: Int) async throws -> [PlacedRecord]
    /// Closes the store for good: if opened again, it would be a second cloud that the hosts take for the first. On the
    /// disk when this returns.
    ///
    /// - Parameter destination: for people, and so that the next attempt recognises it.
    func depart(to destination: String, at now: WallTime) async throws
}

package struct StoreContents: Hashable, Sendable {
    package struct OneZone: Hashable, Sendable {
        package var zone: Zone
        /// The greatest sequence of a purged tombstone; 0 if there was none.
        package var floor: UInt64
        /// The greatest time of an accepted stamp, in milliseconds since 1970; 0 if there was none.
        package var accepted: UInt64
        /// The marks of its timeline, by number.
        package var marks: [TimelineMark]
        /// The aliases in force for its leases.
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
    /// Whether it was restored, and the wait for former holders to stop is not over.
    package var isRestoring: Bool
    package var zones: [OneZone]
    package var credentials: [Credential]
    /// Where everything went. Nil for a store in use.
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

/// A record with its place in the zone's feed.
package struct PlacedRecord: Hashable, Sendable {
    package var record: SyncRecord
    package var sequence: UInt64
    /// The date from which a tombstone's age counts. Nil for other records.
    package var tombstoneTime: WallTime?

    package init(record: SyncRecord, sequence: UInt64, tombstoneTime: WallTime?) {
        self.record = record
        self.sequence = sequence
        self.tombstoneTime = tombstoneTime
    }
}
