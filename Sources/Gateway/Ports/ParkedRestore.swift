package import Domain

/// What `restore` of a parked entry did.
package enum ParkedRestore: Hashable, Sendable {
    /// No entry has this id.
    case unknown
    /// The number of properties that wait to be sent now and did not before.
    case restored(properties: Int, MergeOutcome)
    /// All that was set aside is older than what this host has, or still cannot be kept. The entry stays.
    case nothing(because: String)
}
