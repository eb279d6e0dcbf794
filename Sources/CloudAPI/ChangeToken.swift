/// How far a host has read the changes of one type. Opaque to hosts: only the cloud looks inside.
///
/// Text: `v1.<epoch>.<sequence>`, then `.<key in hex>` where an engine has several changes under one sequence, then
/// `.<floor>` (after an empty key, where there is none) while a reading from the very start is under way.
package struct ChangeToken: Hashable, Sendable {
    /// Of the store. Another one means that a backup was restored: `changeTokenExpired`.
    package var epoch: String
    /// The zone's counter at the last change read.
    package var sequence: UInt64
    /// Within the sequence, the last record read. nil: all of them.
    package var key: String?
    /// The floor of purged tombstones when a reading from the very start began: whoever held nothing then misses none
    /// of those. Without it the second page of a first reading would be below the floor for ever. nil: not such a one.
    package var floor: UInt64?

    package init(epoch: String, sequence: UInt64, key: String? = nil, floor: UInt64? = nil) {
        self.epoch = epoch
        self.sequence = sequence
        self.key = key
        self.floor = floor
    }

    /// Nothing is missing after it, though tombstones up to `floor` were purged.
    package func isGood(above floor: UInt64) -> Bool { max(sequence, self.floor ?? 0) >= floor }
}
