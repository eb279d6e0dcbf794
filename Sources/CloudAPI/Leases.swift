/// A lease in its wire form. Unknown values are null.
package struct LeaseBody: Codable, Hashable, Sendable {
    package var meter: String
    /// `free`, `held`, `revoking` or `expired`.
    package var state: String
    package var holderID: String?
    package var holderName: String?
    /// Sent only to the lease's holder.
    package var session: String?
    package var token: UInt64
    /// `ble`, `spp` or `usb`.
    package var transport: String?
    /// RFC 3339 by the cloud's wall clock, for people.
    package var acquiredAt: String?
    /// In the same form as `acquiredAt`, computed from `remaining`.
    package var expiresAt: String?
    /// Milliseconds.
    package var ttl: Int64
    /// Milliseconds.
    package var lockDelay: Int64
    /// `keep` or `strict`.
    package var policy: String
    /// Milliseconds until the lease expires; 0 afterwards. Programs count down on their own monotonic clock.
    package var remaining: Int64
    /// Names of the waiting hosts, in order.
    package var waiting: [String]
    /// Whether the former holder was informed of a take-over immediately, over its event stream. Only in the answer to
    /// an acquire. Absent without a former holder, and from an older cloud.
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

package enum TakeoverRequest: Codable, Hashable, Sendable {
    /// `{"token": 5}`: takes the meter only from the holder whose lease has this fencing token.
    case of(token: UInt64)
    /// `true`: a take-over request from an older host, without a fencing token. It may have been meant for an earlier
    /// holder, so the present holder keeps the meter. `false` requests no take-over.
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
    /// Milliseconds, capped by the zone's value; absent for that value.
    package var ttl: Int64?
    package var transport: String
    /// `strict` for a stricter policy than the zone's.
    package var policy: String?
    /// Absent unless the host takes the meter from its holder.
    package var takeover: TakeoverRequest?
    /// Greatest fencing token of this meter that the host has seen.
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

/// Results in the order of the request.
package struct RenewAnswer: Codable, Hashable, Sendable {
    package struct Result: Codable, Hashable, Sendable {
        package var meter: String
        /// `renewed`, or the reason for the loss: `takenOver`, `revoking`, `released`, `unknown`.
        package var result: String
        /// Null if the cloud never granted a lease of this meter.
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

/// `POST …/leases/{meter}/release`. Always 200 with the lease afterwards.
package struct ReleaseRequest: Codable, Hashable, Sendable {
    package var session: String
    package var token: UInt64

    package init(session: String, token: UInt64) {
        self.session = session
        self.token = token
    }
}

/// `GET …/leases`: leases that any host of the zone holds or waits for.
package struct LeaseList: Codable, Hashable, Sendable {
    package var leases: [LeaseBody]

    package init(leases: [LeaseBody]) { self.leases = leases }
}
