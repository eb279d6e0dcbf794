package import Domain

/// What another copy of this cloud did, for an engine shared by several: for the hosts that listen to this one.
///
/// A hint: it may come late, twice or not at all, and hosts ask again by themselves.
package enum CloudNews: Hashable, Sendable {
    /// Records of these types changed.
    case records(types: [String], zone: String)
    /// A lease's holder or state changed.
    case lease(LeaseRecord, meter: String, zone: String)
    /// The hosts waiting for a meter, or their order, changed.
    case queue(QueueState, place: MeterPlace)
    case revoked(credential: String)
}
