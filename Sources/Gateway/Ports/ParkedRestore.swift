package import Domain

package enum ParkedRestore: Hashable, Sendable {
    case unknown
    /// Some values were restored. `properties` is the number of properties now in the outbox.
    case restored(properties: Int, MergeOutcome)
    /// Nothing was restored: every value is older than this host's, or still cannot be stored. The parked entry
    /// remains.
    case nothing(because: String)
}
