package import Domain

/// A change made through another replica. Only a hint: it may come late, twice or never, and hosts ask again on their
/// own.
package enum CloudNews: Hashable, Sendable {
    case records(types: [String], zone: String)
    case lease(LeaseRecord, meter: String, zone: String)
    case queue(QueueState, place: MeterPlace)
    case revoked(credential: String)
}
