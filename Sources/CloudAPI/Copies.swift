// What the copies of one cloud tell each other. No host sends or gets any of it.

/// `POST /v1/copies/news`: what a copy of the cloud has to tell another one. What is lost of it is told again or shows as a
/// gap. Answers: 200 `CopyNewsAnswer`, 404 `notFound` where it is for another copy.
package struct CopyNewsBody: Codable, Hashable, Sendable {
    /// A batch of readings, or that one was refused, for those who watch the meter at the other copy.
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

    /// A command for the host that has the meter, should it listen to the other copy.
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

    /// A host that has just begun to listen to the sender: it has missed the commands that wait for it.
    package struct Listener: Codable, Hashable, Sendable {
        package var zone: String
        package var hostID: String

        package init(zone: String, hostID: String) {
            self.zone = zone
            self.hostID = hostID
        }
    }

    /// Who sends it, and for whom it is: names of copies, which change when a copy is started again.
    package var from: String
    package var to: String
    /// Where the sender is reached.
    package var address: String
    /// All that is watched at the sender; absent where nothing has changed since it was last told.
    package var watching: [CopyWatch]?
    /// True where the sender does not know yet what is watched at the other.
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

/// A meter that somebody watches at a copy of the cloud.
package struct CopyWatch: Codable, Hashable, Sendable {
    package var zone: String
    package var meter: String
    /// True where somebody wants every reading.
    package var all: Bool?

    package init(zone: String, meter: String, all: Bool? = nil) {
        self.zone = zone
        self.meter = meter
        self.all = all
    }
}

package struct CopyNewsAnswer: Codable, Hashable, Sendable {
    /// All that is watched at the copy that answers, where it was asked.
    package var watching: [CopyWatch]?

    package init(watching: [CopyWatch]? = nil) { self.watching = watching }
}

/// `POST /v1/copies/ask`: what only the other copy can decide or knows. One of the fields is present. Answers: 200
/// `CopyAnswerBody`, or the refusal for the host.
package struct CopyQuestionBody: Codable, Hashable, Sendable {
    /// A host wants to do a command that the other copy took.
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

    /// What became of it.
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

    /// A host wants to know what those that listen to the other copy have of a meter's log.
    package struct Log: Codable, Hashable, Sendable {
        package var zone: String
        package var meter: String
        /// Who asks, and is not asked itself.
        package var hostID: String
        /// No lines that ended longer ago, in milliseconds; absent for all.
        package var within: Int64?

        package init(zone: String, meter: String, hostID: String, within: Int64?) {
            self.zone = zone
            self.meter = meter
            self.hostID = hostID
            self.within = within
        }
    }

    /// What a host has of it, for the copy that asked the host.
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

    /// The copy that is asked.
    package var to: String
    package var claim: Claim?
    package var outcome: Outcome?
    package var log: Log?
    package var logPart: LogPart?

    package init(to: String) { self.to = to }
}

package struct CopyAnswerBody: Codable, Hashable, Sendable {
    /// With `log`: what the hosts that listen there have, and those that did not answer.
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
    /// Most bytes of logs that one copy tells another at once, counted as those of a part.
    package static let copyLogBytes = 1 << 20
    /// Most bytes of what one copy of a cloud tells another at once: a batch of the greatest size, and what is around it.
    package static let copyBodyBytes = 4 << 20
    /// Most meters that a copy says are watched there.
    package static let copyWatches = 16_384
}
