import CloudAPI
import Domain

protocol PendingRequest: Equatable, Sendable {
    associatedtype Part: Sendable
    associatedtype Outcome: Sendable

    static var rules: PendingRules { get }
    var asker: HostID { get }
    var hosts: [HostID: AskedHost] { get }
    func outcome(_ end: PendingEnd<Part>) -> Outcome
}

struct AskedHost: Hashable {
    var name: String
    /// Fencing token of the lease for which the request is meant; nil for a request that needs no claim.
    var token: UInt64?
}

struct PendingEnd<Part: Sendable> {
    enum Cause: Hashable {
        case answered
        case expired
        case withdrawn
        case changedHands
        case closed
    }

    var cause: Cause
    var wasClaimed: Bool
    var parts: [HostID: Part]
    var silent: [HostID: AskedHost]
}

struct PendingRules {
    var noun: String
    /// Maximum time from the offer to the claim, or to the end of a request that needs no claim.
    var offerTime: Duration
    /// Maximum time from the claim to the end of the request.
    var outcomeTime = Duration.zero
    var openPerHost: Int
    /// Maximum number of requests of one host, including stored ones.
    var countPerHost: Int
    /// Like `countPerHost`, but for all hosts of one zone.
    var countPerZone: Int
    /// Maximum size of the waiting answers (log parts) to one requesting host, in bytes. An answer beyond it is
    /// refused, and the answering host counts as silent.
    var bytesPerHost = Int.max
    /// Like `bytesPerHost`, but for all requesting hosts of one zone.
    var bytesPerZone = Int.max
    /// Like `bytesPerHost`, but for all zones. Each zone may have `bytesAlways` even beyond this limit.
    var bytesMax = Int.max
    var bytesAlways = Int.max
}

struct PendingKey: Hashable, Comparable {
    var zone: String
    var requestID: RequestID

    static func < (one: Self, other: Self) -> Bool {
        (one.zone, one.requestID.high, one.requestID.low) < (other.zone, other.requestID.high, other.requestID.low)
    }
}

/// A host in one zone. The host may belong to several zones.
struct HostPlace: Hashable {
    var zone: String
    var host: HostID
}
