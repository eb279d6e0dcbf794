package import Domain

/// Answer to `GET /v1/account`.
package struct AccountBody: Codable, Hashable, Sendable {
    package var zone: String
    package var hostID: String
    package var hostName: String
    /// Milliseconds since 1970 by the cloud's system clock.
    package var serverTime: Int64
    package var epoch: String
    /// `keep` or `strict`.
    package var policy: String
    /// Identity of the zone: a UUID in lower case. Absent from a cloud without identities.
    package var zoneID: String?
    /// `full` or `readOnly` (`HostRole`). Absent from a cloud without roles, where the host may do everything.
    package var role: String?

    package init(
        zone: String, hostID: String, hostName: String, serverTime: Int64, epoch: String, policy: String,
        zoneID: String? = nil
    ) {
        self.zone = zone
        self.hostID = hostID
        self.hostName = hostName
        self.serverTime = serverTime
        self.epoch = epoch
        self.policy = policy
        self.zoneID = zoneID
    }
}

/// `PUT /v1/zones/{zone}`; the whole body may be absent.
package struct ZoneRequest: Codable, Hashable, Sendable {
    /// Identity that the host has stored for a zone of this name. A new zone gets it; an existing zone keeps its own.
    package var zoneID: String?

    package init(zoneID: String?) { self.zoneID = zoneID }
}

/// `POST /v1/hosts`: a host joins, or confirms that it exists under this name.
///
/// The answer to an enrolment token contains a new access token for the host. A request with the host's own access
/// token binds that token to the host, and the answer contains none.
package struct JoinRequest: Codable, Hashable, Sendable {
    package var hostID: String
    package var hostName: String
    /// Digest of the machine's id, which reveals a copied SD card.
    package var machine: String
    /// Access tokens that the host has or had from this cloud, which its new one replaces. Sent with an enrolment
    /// token. At most `CloudLimits.oldTokens`; an older cloud ignores them.
    package var oldTokens: [String]?

    package init(hostID: String, hostName: String, machine: String, oldTokens: [String]? = nil) {
        self.oldTokens = oldTokens
        self.hostID = hostID
        self.hostName = hostName
        self.machine = machine
    }
}

package struct JoinAnswer: Codable, Hashable, Sendable {
    package var zone: String
    /// Null if the request was made with the host's own access token.
    package var token: String?

    package init(zone: String, token: String?) {
        self.zone = zone
        self.token = token
    }
}

/// Limits of a request (Docs/Sync.md#figures).
package enum CloudLimits {
    package static let recordsPerPage = 400
    package static let recordsPerBatch = 400
    package static let bytesPerBatch = 1 << 20
    /// Maximum length in bytes of a record's or property's name, or of a meter's id.
    package static let nameBytes = 512
    package static let propertiesPerRecord = 256
    package static let leasesPerRenewal = 1000
    package static let oldTokens = 8
}

/// `POST …/records/modify`.
package struct ModifyRequest: Codable, Hashable, Sendable {
    package var records: [SyncRecord]

    package init(records: [SyncRecord]) { self.records = records }
}

/// Results in the order of the request.
package struct ModifyAnswer: Codable, Hashable, Sendable {
    package struct Result: Codable, Hashable, Sendable {
        package var type: String
        package var name: String
        package var error: CloudErrorBody.Content?
        /// Merged record, if it differs from the one sent.
        package var merged: SyncRecord?

        package init(type: String, name: String, error: CloudErrorBody.Content? = nil, merged: SyncRecord? = nil) {
            self.type = type
            self.name = name
            self.error = error
            self.merged = merged
        }
    }

    package var results: [Result]
    /// Milliseconds since 1970 by the cloud's clock.
    package var serverTime: Int64

    package init(results: [Result], serverTime: Int64) {
        self.results = results
        self.serverTime = serverTime
    }
}

package struct ChangesBody: Codable, Hashable, Sendable {
    package var page: RecordPage
    package var changeToken: String
    package var moreComing: Bool
    package var epoch: String
    /// UUID of the zone; absent from a cloud without zone identities.
    package var zoneID: String?

    private enum CodingKeys: String, CodingKey { case page = "records", changeToken, moreComing, epoch, zoneID }

    package var records: [SyncRecord] { page.records }

    package init(records: [SyncRecord], changeToken: String, moreComing: Bool, epoch: String, zoneID: String? = nil) {
        self.init(
            page: RecordPage(records), changeToken: changeToken, moreComing: moreComing, epoch: epoch, zoneID: zoneID)
    }

    package init(page: RecordPage, changeToken: String, moreComing: Bool, epoch: String, zoneID: String? = nil) {
        self.page = page
        self.changeToken = changeToken
        self.moreComing = moreComing
        self.epoch = epoch
        self.zoneID = zoneID
    }
}

/// Data of a server-sent event of `GET …/events`, whose name says which field is present.
package struct EventBody: Codable, Hashable, Sendable {
    package struct Change: Codable, Hashable, Sendable {
        package var types: [String]
        /// Host that alone wrote these records, and so need not fetch them; null for several hosts.
        package var hostID: String?

        package init(types: [String], hostID: String?) {
            self.types = types
            self.hostID = hostID
        }
    }

    package var change: Change?
    /// `lease`: its holder, state or waiting hosts changed.
    package var lease: LeaseBody?
    /// `offer`: the meter is reserved for the receiving host, which must acquire the lease.
    package var offer: Offer?
    /// `interest`: a host watches a meter that the receiving host holds.
    package var interest: Interest?
    /// `command`: a command for a meter that the receiving host holds.
    package var command: Command?
    /// `log`: another host requests the receiving host's lines of a meter's log.
    package var log: LogQuestion?
    /// `ping`, every 15 s: the cloud's wall-clock time, in milliseconds since 1970.
    package var serverTime: Int64?

    package struct Offer: Codable, Hashable, Sendable {
        package var meter: String
        package var reserved: Int64

        package init(meter: String, reserved: Int64) {
            self.meter = meter
            self.reserved = reserved
        }
    }

    package struct Interest: Codable, Hashable, Sendable {
        package var meter: String
        /// Milliseconds for which to send readings; 0 without watchers.
        package var remaining: Int64
        /// Whether a watcher wants every reading, even at a high rate.
        package var all: Bool

        package init(meter: String, remaining: Int64, all: Bool) {
            self.meter = meter
            self.remaining = remaining
            self.all = all
        }
    }

    package struct Command: Codable, Hashable, Sendable {
        package var requestID: String
        package var meter: String
        /// Fencing token of the required lease: only its holder may run the command.
        package var token: UInt64
        package var action: RelayActionBody
        package var hostID: String
        package var hostName: String
        /// Id of the replica that manages the command, repeated in the claim and the answer.
        package var copy: String?

        package init(
            requestID: String, meter: String, token: UInt64, action: RelayActionBody, hostID: String, hostName: String
        ) {
            self.requestID = requestID
            self.meter = meter
            self.token = token
            self.action = action
            self.hostID = hostID
            self.hostName = hostName
        }
    }

    package struct LogQuestion: Codable, Hashable, Sendable {
        package var requestID: String
        package var meter: String
        /// Maximum age of a line in milliseconds, from the end of its event; absent for all lines.
        package var within: Int64?
        /// Id of the replica that collects the answers, repeated in each.
        package var copy: String?

        package init(requestID: String, meter: String, within: Int64?) {
            self.requestID = requestID
            self.meter = meter
            self.within = within
        }
    }

    package init(
        change: Change? = nil, lease: LeaseBody? = nil, offer: Offer? = nil, interest: Interest? = nil,
        command: Command? = nil, log: LogQuestion? = nil, serverTime: Int64? = nil
    ) {
        self.command = command
        self.log = log
        self.change = change
        self.lease = lease
        self.offer = offer
        self.interest = interest
        self.serverTime = serverTime
    }

    package var name: String {
        if change != nil {
            "change"
        } else if lease != nil {
            "lease"
        } else if offer != nil {
            "offer"
        } else if interest != nil {
            "interest"
        } else if command != nil {
            "command"
        } else if log != nil {
            "log"
        } else {
            "ping"
        }
    }
}
