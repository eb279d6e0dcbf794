/// What is to be done with a meter that another host has. The cloud passes it on without reading it.
package struct RelayActionBody: Codable, Hashable, Sendable {
    /// `command`, `startRecording` or `stopRecording`; a holder refuses what its version does not know.
    package var kind: String
    /// With `command`: which one, as `meterctl command` has it.
    package var command: String?
    package var number: Int?
    /// With `startRecording`: its name.
    package var name: String?

    package init(kind: String) { self.kind = kind }
}

/// `POST …/meters/{meter}/commands`. Answers when the outcome is known, after `CloudLimits.commandMilliseconds` at the
/// latest: 200 `RelayCommandAnswer`, or 409 `leaseLost` with the present lease where the token is not the lease's; 400
/// `badRequest` where the id is another command's.
package struct RelayCommandRequest: Codable, Hashable, Sendable {
    /// A UUID made for this command. One that comes twice is done once, and both get its outcome.
    package var requestID: String
    /// Of the lease at which it is aimed: no other holder does it.
    package var token: UInt64
    package var action: RelayActionBody

    package init(requestID: String, token: UInt64, action: RelayActionBody) {
        self.requestID = requestID
        self.token = token
        self.action = action
    }
}

/// What became of a command.
package struct RelayCommandAnswer: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case done
        /// The holder refused it: `code`, `message` and `next` say why, as its own API would.
        case refused
        /// It was not done, and will not be.
        case notDone
        /// The holder took it and said nothing more: it may have been done.
        case timedOut
    }

    package var outcome: Outcome
    /// With `refused`: an error code of the host's own API.
    package var code: String?
    package var message: String?
    package var next: String?
    /// With `done`: what the holder's own API would have answered, as a text of JSON; null where that says nothing.
    package var result: String?
    /// The host at which it was aimed.
    package var holderName: String?

    package init(_ outcome: Outcome, message: String? = nil) {
        self.outcome = outcome
        self.message = message
    }
}

/// `POST …/meters/{meter}/commands/{request}/claim`: the holder is about to do it. Answers: 200 `{}` to one claim of each
/// command; 409 `leaseLost` or 404 `notFound` where it must not be done.
package struct RelayClaimRequest: Codable, Hashable, Sendable {
    package var session: String
    package var token: UInt64
    /// As the event had it.
    package var copy: String?

    package init(session: String, token: UInt64, copy: String? = nil) {
        self.session = session
        self.token = token
        self.copy = copy
    }
}

/// `POST …/meters/{meter}/commands/{request}/answer`: what the holder did. Answers: 200 `{}`, also where nobody waits for
/// it any more.
package struct RelayOutcomeRequest: Codable, Hashable, Sendable {
    package var token: UInt64
    /// As the event had it.
    package var copy: String?
    package var answer: RelayCommandAnswer

    package init(token: UInt64, copy: String? = nil, answer: RelayCommandAnswer) {
        self.token = token
        self.copy = copy
        self.answer = answer
    }
}

extension CloudLimits {
    /// A command is claimed within this time, or not done (Docs/Relay.md).
    package static let claimMilliseconds: Int64 = 5_000
    /// Between a claim and the holder's answer, which comes 5 s later at the latest unless it is lost.
    package static let outcomeMilliseconds: Int64 = 10_000
    /// The longest time until the outcome of a command is known; the cloud looks once a second.
    package static let commandMilliseconds = claimMilliseconds + outcomeMilliseconds + 2_000
    /// Most bytes of each text of an action.
    package static let actionTextBytes = 256
    /// Most bytes of what a holder says about a command, all texts together.
    package static let resultBytes = 16_384
}
