package import CloudAPI
package import Domain
import Gateway
import NIOCore
import NIOHTTP1

/// Commands to and from other hosts (Docs/Relay.md#commands).
extension CloudClient {
    /// - Parameter id: new for each call, so that a refusal means that no host ran the command.
    /// - Throws: if it is unknown whether the command ran.
    package func command(
        _ id: RequestID, _ action: RelayAction, of meter: MeterID, token: FencingToken
    ) async throws(SyncFailure) -> RelayOutcome {
        let body = RelayCommandRequest(
            requestID: id.description, token: token.rawValue, action: RelayActionBody(action))
        do throws(CallFailure) {
            // The cloud has its own timeout; `patience` is added for the network.
            let answer: RelayCommandAnswer = try await attempt(
                .POST, zonePath("meters/\(meter.description.urlPart)/commands"), body: body,
                patience: .milliseconds(CloudLimits.commandMilliseconds) + patience)
            return RelayOutcome(answer)
        } catch {
            // A refused command reaches no holder. After a cloud error, a holder may have run it.
            guard case .refused(let content) = error,
                ![.serviceUnavailable, .internalError, .readOnly].contains(content.code)
            else { throw error.failure }
            return .notDone(content.message)
        }
    }

    package func claim(_ command: RelayCommand, session: SessionID) async throws(SyncFailure) -> Bool {
        do throws(CallFailure) {
            let _: Ignored = try await attempt(
                .POST, path(of: command) + "/claim",
                body: RelayClaimRequest(
                    session: session.description, token: command.token.rawValue, copy: command.copy))
            return true
        } catch {
            guard case .refused = error else { throw error.failure }
            return false
        }
    }

    package func answer(_ command: RelayCommand, _ outcome: RelayOutcome) async throws(SyncFailure) {
        let _: Ignored = try await call(
            .POST, path(of: command) + "/answer",
            body: RelayOutcomeRequest(
                token: command.token.rawValue, copy: command.copy, answer: RelayCommandAnswer(outcome)))
    }

    private func path(of command: RelayCommand) -> String {
        zonePath("meters/\(command.meter.description.urlPart)/commands/\(command.id.description.urlPart)")
    }
}

extension RelayActionBody {
    package init(_ action: RelayAction) {
        switch action {
        case .command(let command):
            self.init(kind: "command")
            self.command = command.kind.rawValue
            number = command.number
        case .startRecording(let name):
            self.init(kind: "startRecording")
            self.name = name
        case .stopRecording: self.init(kind: "stopRecording")
        case .unknown(let kind): self.init(kind: kind)
        }
    }

    package var action: RelayAction {
        switch kind {
        case "command":
            command.flatMap { MeterCommand.Kind(rawValue: $0) }.map { .command(MeterCommand($0, number)) }
                ?? .unknown(command ?? kind)
        case "startRecording": .startRecording(name: name)
        case "stopRecording": .stopRecording
        default: .unknown(kind)
        }
    }
}

extension RelayCommand {
    /// Nil for an invalid id (such as a newer kind of meter id), or a fencing token out of range.
    package init?(_ body: EventBody.Command) {
        guard let id = RequestID(body.requestID), let meter = MeterID(body.meter),
            let author = HostID(body.hostID), body.token <= FencingToken.max.rawValue
        else { return nil }
        self.init(
            id: id, meter: meter, token: FencingToken(rawValue: body.token), action: body.action.action,
            author: author, authorName: body.hostName, copy: body.copy)
    }
}

extension RelayOutcome {
    package init(_ answer: RelayCommandAnswer) {
        let said = answer.message ?? ""
        self =
            switch answer.outcome {
            case .done: .done(result: answer.result)
            case .refused:
                .refused(code: answer.code ?? "", message: said, next: answer.next ?? "")
            case .notDone: .notDone(said)
            case .timedOut: .timedOut(said)
            }
    }
}

extension RelayCommandAnswer {
    package init(_ outcome: RelayOutcome) {
        switch outcome {
        case .done(let result):
            self.init(.done)
            self.result = result
        case .refused(let code, let message, let next):
            self.init(.refused, message: message)
            self.code = code
            self.next = next
        case .notDone(let message): self.init(.notDone, message: message)
        case .timedOut(let message): self.init(.timedOut, message: message)
        }
    }
}
