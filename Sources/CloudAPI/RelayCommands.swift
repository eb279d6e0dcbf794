/// Action for a meter that another host holds.
package struct RelayActionBody: Codable, Hashable, Sendable {
    /// `command`, `startRecording` or `stopRecording`; a holder refuses unknown kinds.
    package var kind: String
    /// Name of the command, as in `meterctl command`.
    package var command: String?
    package var number: Int?
    package var name: String?

    package init(kind: String) { self.kind = kind }
}

/// `POST …/meters/{meter}/commands`. Answers within `CloudLimits.commandMilliseconds`: 200 `RelayCommandAnswer`; 409
/// `leaseLost` with the present lease if the fencing token does not match it; 400 `badRequest` if another command has
/// the id.
package struct RelayCommandRequest: Codable, Hashable, Sendable {
    /// UUID. A repeated request does not repeat the command, and receives its outcome.
    package var requestID: String
    /// Fencing token of the required lease: only its holder may run the command.
    package var token: UInt64
    package var action: RelayActionBody

    package init(requestID: String, token: UInt64, action: RelayActionBody) {
        self.requestID = requestID
        self.token = token
        self.action = action
    }
}

package struct RelayCommandAnswer: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case done
        /// The holder refused the command, with `code`, `message` and `next` as in its own API.
        case refused
        /// The command did not run, and never will.
        case notDone
        /// The holder claimed the command but reported no outcome: it may have run.
        case timedOut
    }

    package var outcome: Outcome
    package var code: String?
    package var message: String?
    package var next: String?
    /// JSON answer of the holder's own API; null if empty.
    package var result: String?
    package var holderName: String?

    package init(_ outcome: Outcome, message: String? = nil) {
        self.outcome = outcome
        self.message = message
    }
}

/// `POST …/meters/{meter}/commands/{request}/claim`, before the holder runs the command. Answers: 200 `{}` to one claim
/// of each command; 409 `leaseLost` or 404 `notFound` if the holder must not run it.
package struct RelayClaimRequest: Codable, Hashable, Sendable {
    package var session: String
    package var token: UInt64
    package var copy: String?

    package init(session: String, token: UInt64, copy: String? = nil) {
        self.session = session
        self.token = token
        self.copy = copy
    }
}

/// `POST …/meters/{meter}/commands/{request}/answer`. Always answers 200 `{}`, even if no caller waits.
package struct RelayOutcomeRequest: Codable, Hashable, Sendable {
    package var token: UInt64
    package var copy: String?
    package var answer: RelayCommandAnswer

    package init(token: UInt64, copy: String? = nil, answer: RelayCommandAnswer) {
        self.token = token
        self.copy = copy
        self.answer = answer
    }
}

extension CloudLimits {
    /// Timeout of the holder's claim, after which the command never runs (Docs/Relay.md).
    package static let claimMilliseconds: Int64 = 5_000
    /// Timeout of the holder's answer after its claim. An answer takes at most 5 s unless it is lost.
    package static let outcomeMilliseconds: Int64 = 10_000
    /// Maximum duration of a command, with 1 s added for each of the two timeouts, which the cloud checks once a
    /// second.
    package static let commandMilliseconds = claimMilliseconds + outcomeMilliseconds + 2_000
    /// Maximum length of each text of an action in bytes.
    package static let actionTextBytes = 256
    /// Maximum size of all texts of a holder's answer together, in bytes.
    package static let resultBytes = 16_384
}
