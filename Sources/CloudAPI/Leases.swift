/// One lease as it is sent. Unknown or not applicable is null.
package struct LeaseBody: Codable, Hashable, Sendable {
    package var meter: String
    /// `free`, `held`, `revoking` or `expired`.
    package var state: String
    package var holderID: String?
    package var holderName: String?
    /// Sent only to its own holder.
    package var session: String?
    package var token: UInt64
    /// `ble`, `spp` or `usb`.
    package var transport: String?
    /// By the cloud's wall clock, RFC 3339, for people to read.
    package var acquiredAt: String?
    /// The same, computed from `remaining`.
    package var expiresAt: String?
    /// Milliseconds.
    package var ttl: Int64
    /// Milliseconds.
    package var lockDelay: Int64
    /// `keep` or `strict`.
    package var policy: String
    /// Milliseconds until the lease expires; 0 once it has. Programs count this down on their own clock.
    package var remaining: Int64
    /// Names of the waiting hosts, in order.
    package var waiting: [String]
    /// In the answer to an acquire that took the meter from another host: whether that host heard of it at once, over
    /// its event stream. Absent if nobody lost it, and from an older cloud.
    package var oldHolderTold: Bool?

    package init(
        meter: String, state: String, token: UInt64, ttl: Int64, lockDelay: Int64, policy: String, remaining: Int64,
        waiting: [String] = []
    ) {
        self.meter = meter
        self.state = state
        self.token = token
        self.ttl = ttl
        self.lockDelay = lockDelay
        self.policy = policy
        self.remaining = remaining
        self.waiting = waiting
    }
}

/// The target of a take-over.
package enum TakeoverRequest: Codable, Hashable, Sendable {
    /// `{"token": 5}`: the grant with this token, and no other.
    case of(token: UInt64)
    /// `true`, as hosts sent it before take-overs named a grant. It may have been meant for an earlier holder, so it
    /// takes the meter from nobody. `false` requests no take-over.
    case unnamed(Bool)

    private enum CodingKeys: String, CodingKey { case token }

    package init(from decoder: any Decoder) throws {
        if let isWanted = try? decoder.singleValueContainer().decode(Bool.self) {
            self = .unnamed(isWanted)
        } else {
            self = .of(token: try decoder.container(keyedBy: CodingKeys.self).decode(UInt64.self, forKey: .token))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .of(let token):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(token, forKey: .token)
        case .unnamed(let isWanted):
            var container = encoder.singleValueContainer()
            try container.encode(isWanted)
        }
    }
}

/// `POST …/leases/{meter}/acquire`. Answers: 200 `LeaseBody`, 409 `leaseHeld`.
package struct AcquireRequest: Codable, Hashable, Sendable {
    package var requestID: String
    package var session: String
    package var previousSession: String?
    /// Milliseconds; the zone caps it. If absent, the zone's.
    package var ttl: Int64?
    package var transport: String
    /// `strict` if the host wants it stricter than its zone.
    package var policy: String?
    /// Absent if the meter is not to be taken from anybody.
    package var takeover: TakeoverRequest?
    /// The greatest token of this meter that the host knows. The grant's will be above it.
    package var tokenFloor: UInt64?

    package init(requestID: String, session: String, transport: String) {
        self.requestID = requestID
        self.session = session
        self.transport = transport
    }
}

/// `POST …/leases/renew`: all leases of a host in one request.
package struct RenewRequest: Codable, Hashable, Sendable {
    package struct Lease: Codable, Hashable, Sendable {
        package var meter: String
        package var token: UInt64

        package init(meter: String, token: UInt64) {
            self.meter = meter
            self.token = token
        }
    }

    package var session: String
    package var leases: [Lease]

    package init(session: String, leases: [Lease]) {
        self.session = session
        self.leases = leases
    }
}

/// One result for each lease, in the order of the request.
package struct RenewAnswer: Codable, Hashable, Sendable {
    package struct Result: Codable, Hashable, Sendable {
        package var meter: String
        /// `renewed`, or why it is lost: `takenOver`, `revoking`, `released`, `unknown`.
        package var result: String
        /// Null if the cloud never granted one.
        package var lease: LeaseBody?

        package init(meter: String, result: String, lease: LeaseBody?) {
            self.meter = meter
            self.result = result
            self.lease = lease
        }
    }

    package var results: [Result]

    package init(results: [Result]) { self.results = results }
}

/// `POST …/leases/{meter}/release`. Always 200 with the lease as it is afterwards.
package struct ReleaseRequest: Codable, Hashable, Sendable {
    package var session: String
    package var token: UInt64

    package init(session: String, token: UInt64) {
        self.session = session
        self.token = token
    }
}

/// `GET …/leases`: leases that somebody holds or waits for.
package struct LeaseList: Codable, Hashable, Sendable {
    package var leases: [LeaseBody]

    package init(leases: [LeaseBody]) { self.leases = leases }
}
