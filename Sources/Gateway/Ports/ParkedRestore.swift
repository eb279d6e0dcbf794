package import Domain

package enum ParkedRestore: Hashable, Sendable {
    case unknown
    /// `properties` is the number of properties that this restore added to the outbox.
    case restored(properties: Int, MergeOutcome)
    /// Every value is older than this host's, or still cannot be stored. The `ParkedEntry` remains.
    case nothing(because: String)
}
