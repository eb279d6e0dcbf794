package import Domain

/// A change made through another replica. Only a hint, which may arrive late, twice or never: hosts also poll.
package enum CloudNews: Hashable, Sendable {
    case records(types: [String], zone: String)
    case lease(LeaseRecord, meter: String, zone: String)
    case queue(QueueState, place: MeterPlace)
    case revoked(credential: String)
}
