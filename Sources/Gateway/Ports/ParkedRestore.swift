package import Domain

package enum ParkedRestore: Hashable, Sendable {
    case unknown
    /// Number of properties newly waiting to be sent.
    case restored(properties: Int, MergeOutcome)
    /// Nothing was restored: every value is older than this host's, or still cannot be stored. The entry remains.
    case nothing(because: String)
}
