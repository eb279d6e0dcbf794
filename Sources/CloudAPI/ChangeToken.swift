/// How far a host has read the changes of one type. Opaque to hosts: only the cloud looks inside.
///
/// Text: `v2.<zone>.<epoch>.<mark>.<mark's id>.<read at>.<sequence>.<key>.<floor>`, the mark's id and the key in hex, the
/// last two empty where there is none. Tokens of the first form, without an origin, are
/// `v1.<epoch>.<sequence>[.<key>[.<floor>]]`; hosts that had one from an earlier version of the cloud still send it.
package struct ChangeToken: Hashable, Sendable {
    /// Of the store. Another one means that a backup was restored: `changeTokenExpired`.
    package var epoch: String
    /// The zone's counter at the last change read.
    package var sequence: UInt64
    /// Within the sequence, the last record read. nil means all of them.
    package var key: String?
    /// The floor of purged tombstones when a reading from the very start began: whoever held nothing then misses none
    /// of those. Without it the second page of a first reading would be below the floor for ever. nil means not such a
    /// one.
    package var floor: UInt64?
    /// Where and when its page was read. nil for a token of the first form.
    package var origin: Origin?

    package struct Origin: Hashable, Sendable {
        /// The zone's identity.
        package var zone: String
        /// Number of the newest mark that the zone's timeline had then; 0 before its first one.
        package var mark: UInt64
        /// The random id of that mark; 0 before the first one.
        package var markID: UInt64
        /// The zone's sequence then. The token's own sequence is its page's last record's, which may be less.
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

    /// Nothing is missing after it, though tombstones up to `floor` were purged.
    package func isGood(above floor: UInt64) -> Bool { max(sequence, self.floor ?? 0) >= floor }
}
