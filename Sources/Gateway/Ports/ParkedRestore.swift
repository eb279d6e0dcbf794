package import Domain

package enum ParkedRestore: Hashable, Sendable {
    case unknown
    /// Number of properties newly waiting to be sent.
    case restored(properties: Int, MergeOutcome)
    /// Everything in the entry is older than this host's values, or still cannot be kept. The entry stays.
    case nothing(because: String)
}
