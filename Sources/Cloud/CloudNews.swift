package import LeaseCore

/// What another copy of this cloud did, where an engine has several: for the hosts that listen to this one.
///
/// A hint: it may come late, twice or not at all, and hosts ask again by themselves.
package enum CloudNews: Hashable, Sendable {
    /// Records of these types changed.
    case records(types: [String], zone: String)
    /// A lease has another holder or state.
    case lease(LeaseRecord, meter: String, zone: String)
    /// Those who wait for a meter are others, or stand in another order.
    case queue(QueueState, place: MeterPlace)
    case revoked(credential: String)
}
