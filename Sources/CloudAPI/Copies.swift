// Messages between the replicas of one cloud. Hosts neither send nor receive them.

/// `POST /v1/copies/news`: a message of one replica to another (after a failed delivery: see `ReplicaOutbox`). Answers:
/// 200 `ReplicaNewsAnswer`, 404 `notFound` at the wrong replica.
package struct ReplicaNewsBody: Codable, Hashable, Sendable {
    /// A batch of readings, or its refusal, for watchers at the other replica.
    package struct Event: Codable, Hashable, Sendable {
        package var zone: String
        package var meter: String
        package var event: RelayEventBody

        package init(zone: String, meter: String, event: RelayEventBody) {
            self.zone = zone
            self.meter = meter
            self.event = event
        }
    }

    /// A command for the meter's holder, which may listen to the other replica.
    package struct Command: Codable, Hashable, Sendable {
        package var zone: String
        package var holderID: String
        package var command: EventBody.Command

        package init(zone: String, holderID: String, command: EventBody.Command) {
            self.zone = zone
            self.holderID = holderID
            self.command = command
        }
    }

    /// A host that has just begun to listen to the sender. The recipient sends the waiting commands that this host has
    /// missed.
    package struct Listener: Codable, Hashable, Sendable {
        package var zone: String
        package var hostID: String

        package init(zone: String, hostID: String) {
            self.zone = zone
            self.hostID = hostID
        }
    }

    /// Ids of sender and recipient, which change when a replica restarts.
    package var from: String
    package var to: String
    package var address: String
    /// Full list of meters watched at the sender; absent if unchanged.
    package var watching: [ReplicaWatch]?
    /// Whether to request the recipient's list of watched meters.
    package var asks: Bool?
    package var events: [Event]?
    package var commands: [Command]?
    package var listeners: [Listener]?

    package init(from: String, to: String, address: String) {
        self.from = from
        self.to = to
        self.address = address
    }
}

package struct ReplicaWatch: Codable, Hashable, Sendable {
    package var zone: String
    package var meter: String
    /// Whether a watcher wants every reading.
    package var all: Bool?

    package init(zone: String, meter: String, all: Bool? = nil) {
        self.zone = zone
        self.meter = meter
        self.all = all
    }
}

package struct ReplicaNewsAnswer: Codable, Hashable, Sendable {
    /// Full list of meters watched at the answering replica, if requested.
    package var watching: [ReplicaWatch]?

    package init(watching: [ReplicaWatch]? = nil) { self.watching = watching }
}

/// `POST /v1/copies/ask`: a question that only the other replica can answer, in exactly one of the fields. Answers: 200
/// `ReplicaAnswerBody`, or the refusal for the host.
package struct ReplicaQuestionBody: Codable, Hashable, Sendable {
    /// A host's claim of a command that the other replica received.
    package struct Claim: Codable, Hashable, Sendable {
        package var zone: String
        package var meter: String
        package var requestID: String
        package var hostID: String
        package var hostName: String
        package var request: RelayClaimRequest

        package init(
            zone: String, meter: String, requestID: String, hostID: String, hostName: String, request: RelayClaimRequest
        ) {
            self.zone = zone
            self.meter = meter
            self.requestID = requestID
            self.hostID = hostID
            self.hostName = hostName
            self.request = request
        }
    }

    package struct Outcome: Codable, Hashable, Sendable {
        package var zone: String
        package var requestID: String
        package var hostID: String
        package var request: RelayOutcomeRequest

        package init(zone: String, requestID: String, hostID: String, request: RelayOutcomeRequest) {
            self.zone = zone
            self.requestID = requestID
            self.hostID = hostID
            self.request = request
        }
    }

    package struct Log: Codable, Hashable, Sendable {
        package var zone: String
        package var meter: String
        /// Requesting host, which receives no request itself.
        package var hostID: String
        /// Maximum age of a line in milliseconds, counted from the end of its event; absent for all lines.
        package var within: Int64?

        package init(zone: String, meter: String, hostID: String, within: Int64?) {
            self.zone = zone
            self.meter = meter
            self.hostID = hostID
            self.within = within
        }
    }

    /// A host's part of a log, for the replica that requested it.
    package struct LogPart: Codable, Hashable, Sendable {
        package var zone: String
        package var requestID: String
        package var hostID: String
        package var hostName: String
        package var part: RelayLogPart

        package init(zone: String, requestID: String, hostID: String, hostName: String, part: RelayLogPart) {
            self.zone = zone
            self.requestID = requestID
            self.hostID = hostID
            self.hostName = hostName
            self.part = part
        }
    }

    package var to: String
    package var claim: Claim?
    package var outcome: Outcome?
    package var log: Log?
    package var logPart: LogPart?

    package init(to: String) { self.to = to }
}

package struct ReplicaAnswerBody: Codable, Hashable, Sendable {
    /// Parts of the hosts that listen to the answering replica, and the hosts that did not answer.
    package struct Log: Codable, Hashable, Sendable {
        package struct Host: Codable, Hashable, Sendable {
            package var hostID: String
            package var hostName: String

            package init(hostID: String, hostName: String) {
                self.hostID = hostID
                self.hostName = hostName
            }
        }

        package var parts: [RelayLogAnswer.Part]
        package var silent: [Host]

        package init(parts: [RelayLogAnswer.Part], silent: [Host]) {
            self.parts = parts
            self.silent = silent
        }
    }

    package var log: Log?

    package init(log: Log? = nil) { self.log = log }
}

extension CloudLimits {
    /// Maximum size of the logs in one answer, in bytes, counted as for `logPartBytes`.
    package static let copyLogBytes = 1 << 20
    /// Maximum size of a message between replicas in bytes: the largest batch and its envelope.
    package static let copyBodyBytes = 4 << 20
    package static let copyWatches = 16_384
}
