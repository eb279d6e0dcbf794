/// How far a host has read the changes of one type. Opaque to hosts: only the cloud looks inside.
///
/// Text: `v1.<epoch>.<sequence>`, and `.<key in hex>` where an engine has several changes under one sequence.
package struct ChangeToken: Hashable, Sendable {
    /// Of the store. Another one means that a backup was restored: `changeTokenExpired`.
    package var epoch: String
    /// The zone's counter at the last change read.
    package var sequence: UInt64
    /// Within the sequence, the last record read. nil: all of them.
    package var key: String?

    package init(epoch: String, sequence: UInt64, key: String? = nil) {
        self.epoch = epoch
        self.sequence = sequence
        self.key = key
    }
}
