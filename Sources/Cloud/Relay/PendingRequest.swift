import CloudAPI
import Domain

/// One kind of request that the cloud passes on to hosts: who is asked, and what becomes of it.
protocol PendingRequest: Equatable, Sendable {
    /// What one host says.
    associatedtype Part: Sendable
    /// What the host that asked hears.
    associatedtype Outcome: Sendable

    static var rules: PendingRules { get }
    var asker: HostID { get }
    var hosts: [HostID: AskedHost] { get }
    func outcome(_ end: PendingEnd<Part>) -> Outcome
}

/// A host that a request is offered to.
struct AskedHost: Hashable {
    var name: String
    /// Of the lease that the request is aimed at; nil for a request that needs no claim.
    var token: UInt64?
}

/// How a request ended.
struct PendingEnd<Part: Sendable> {
    enum Cause: Hashable {
        /// Every host has said something.
        case answered
        /// Its time is over.
        case expired
        /// Nobody waits for it any more.
        case withdrawn
        /// The meter has another holder.
        case changedHands
        /// This copy of the cloud stops.
        case closed
    }

    var cause: Cause
    var wasClaimed: Bool
    var parts: [HostID: Part]
    /// Hosts that said nothing.
    var silent: [HostID: AskedHost]
}

/// The times and shares of one kind of request. Shares are those at one copy of the cloud.
struct PendingRules {
    /// Plural, for refusals.
    var noun: String
    /// From the offer to the claim or, for a request without a claim, to the end.
    var offerTime: Duration
    /// From the claim to the end.
    var outcomeTime = Duration.zero
    /// Most requests of one host that have not ended.
    var openPerHost: Int
    /// Most requests of one host, with those that the store keeps.
    var countPerHost: Int
    /// The same of all hosts of one zone.
    var countPerZone: Int
    /// Most bytes of the parts for one host. A part beyond is refused, and its host counts as silent.
    var bytesPerHost = Int.max
    /// The same of all hosts of one zone.
    var bytesPerZone = Int.max
    /// The same of all zones. Each zone may have `bytesAlways` even then.
    var bytesMax = Int.max
    var bytesAlways = Int.max
}

/// Identifies a request in all zones.
struct PendingKey: Hashable, Comparable {
    var zone: String
    var requestID: RequestID

    static func < (one: Self, other: Self) -> Bool {
        (one.zone, one.requestID.high, one.requestID.low) < (other.zone, other.requestID.high, other.requestID.low)
    }
}

/// A host in a zone: one host may belong to several.
struct HostPlace: Hashable {
    var zone: String
    var host: HostID
}
