/// Position up to which a host has read the changes of one type. Only the cloud interprets it.
///
/// Text: `v2.<zone>.<epoch>.<mark>.<mark's id>.<read at>.<sequence>.<key>.<floor>`, the mark's id and the key in hex,
/// the last two empty if missing. Hosts may still send `v1.<epoch>.<sequence>[.<key>[.<floor>]]`, without an origin.
package struct ChangeToken: Hashable, Sendable {
    /// Epoch of the store. A different epoch means a restored backup: `changeTokenExpired`.
    package var epoch: String
    package var sequence: UInt64
    /// Key of the last record read with this sequence; nil if all of them were read.
    package var key: String?
    /// Floor (greatest sequence of a purged tombstone) when the host began to fetch all records without a change token;
    /// nil for other fetches. Such a host misses no purged tombstone. Without this field, its second page would be
    /// refused if its sequence is below the zone's floor.
    package var floor: UInt64?
    /// Zone, mark and sequence when the page was read; nil for a change token of the first form (`v1`).
    package var origin: Origin?

    package struct Origin: Hashable, Sendable {
        package var zone: String
        /// Number of the zone's newest mark when the page was read; 0 before its first mark.
        package var mark: UInt64
        /// Random id of that mark; 0 before the first mark.
        package var markID: UInt64
        /// Sequence of the zone when the page was read. The change token's own sequence may be less.
        package var readAt: UInt64

        package init(zone: String, mark: UInt64, markID: UInt64, readAt: UInt64) {
            self.zone = zone
            self.mark = mark
            self.markID = markID
            self.readAt = readAt
        }
    }

    package init(
        epoch: String, sequence: UInt64, key: String? = nil, floor: UInt64? = nil, origin: Origin? = nil
    ) {
        self.epoch = epoch
        self.sequence = sequence
        self.key = key
        self.floor = floor
        self.origin = origin
    }

    /// Whether the host can continue from this change token without missing a deletion. Tombstones with sequences up to
    /// `floor` were purged.
    package func isGood(above floor: UInt64) -> Bool { max(sequence, self.floor ?? 0) >= floor }
}
