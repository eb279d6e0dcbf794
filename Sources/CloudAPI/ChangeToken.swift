/// How far a host has read the changes of one type. Opaque to hosts: only the cloud interprets it.
///
/// Text: `v2.<zone>.<epoch>.<mark>.<mark's id>.<read at>.<sequence>.<key>.<floor>`, the mark's id and the key in hex,
/// the last two empty if missing. Tokens of the first form, without an origin, are
/// `v1.<epoch>.<sequence>[.<key>[.<floor>]]`; hosts that had one from an earlier version of the cloud still send it.
package struct ChangeToken: Hashable, Sendable {
    /// The store's epoch. A different one means that a backup was restored: `changeTokenExpired`.
    package var epoch: String
    /// The zone's counter at the last change read.
    package var sequence: UInt64
    /// The last record read with this sequence. Nil if all were read.
    package var key: String?
    /// The floor of purged tombstones when a reading from the very beginning started: a host that had nothing then
    /// misses none of those. Without it, the second page of a first reading would always be below the floor. Nil for
    /// other readings.
    package var floor: UInt64?
    /// Where and when its page was read. Nil for a token of the first form.
    package var origin: Origin?

    package struct Origin: Hashable, Sendable {
        /// The zone's identity.
        package var zone: String
        /// Number of the zone's newest mark at that time; 0 before its first mark.
        package var mark: UInt64
        /// The random id of that mark; 0 before the first mark.
        package var markID: UInt64
        /// The zone's sequence at that time. The token's own sequence is that of the last record on its page, which may
        /// be less.
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

    /// Whether nothing is missing after it, although tombstones up to `floor` were purged.
    package func isGood(above floor: UInt64) -> Bool { max(sequence, self.floor ?? 0) >= floor }
}
