package import LeaseCore
package import MeterModel
package import SettingsCore

/// A store that everything in it leaves for another one (`metercloud migrate`), and that nothing else uses meanwhile.
///
/// What goes along is all that hosts rely on: the epoch, the zones' identities and marks, and the sequences, so that their
/// change tokens stay good; the leases with their fencing tokens, also of those that are free; the credentials. Lease
/// queues do not: they are of the moment, and hosts queue again at the new store.
package protocol DepartingStore: Sendable {
    /// All but the leases and the records, of which there may be many.
    func contents() async throws -> StoreContents
    /// Every lease there ever was in a zone, by meter. When they were renewed does not go along: whoever reads them
    /// counts from then.
    ///
    /// - Parameters:
    ///   - meter: those after it; nil means from the first.
    ///   - limit: at least 1.
    func leases(in zone: String, after meter: String?, limit: Int) async throws -> [(
        meter: String, record: LeaseRecord
    )]
    /// A zone's records by sequence, tombstones too.
    func records(in zone: String, after sequence: UInt64, limit: Int) async throws -> [PlacedRecord]
    /// From then on, for good, the store is opened by nobody any more: it would be a second cloud that the hosts take
    /// for the first. On the disk when it returns.
    ///
    /// - Parameter destination: for people, and for the next attempt to know it again.
    func depart(to destination: String, at now: WallTime) async throws
}

package struct StoreContents: Hashable, Sendable {
    package struct OneZone: Hashable, Sendable {
        package var zone: Zone
        /// The greatest sequence of a purged tombstone, 0 for none.
        package var floor: UInt64
        /// The greatest milliseconds of a stamp ever taken, 0 for none.
        package var accepted: UInt64
        /// Of its timeline, by number.
        package var marks: [TimelineMark]
        /// In force for its leases.
        package var aliases: AliasBook

        package init(zone: Zone, floor: UInt64, accepted: UInt64, marks: [TimelineMark], aliases: AliasBook) {
            self.aliases = aliases
            self.marks = marks
            self.zone = zone
            self.floor = floor
            self.accepted = accepted
        }
    }

    package var epoch: String
    package var tokenFloor: FencingToken
    /// It was restored, and nobody has waited for old holders to stop yet.
    package var isRestoring: Bool
    package var zones: [OneZone]
    package var credentials: [Credential]
    /// Where everything went; nil for a store that is in use.
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
    package var record: Record
    package var sequence: UInt64
    /// From when a tombstone's age counts; nil for what is not a record of that kind.
    package var tombstoneTime: WallTime?

    package init(record: Record, sequence: UInt64, tombstoneTime: WallTime?) {
        self.record = record
        self.sequence = sequence
        self.tombstoneTime = tombstoneTime
    }
}
