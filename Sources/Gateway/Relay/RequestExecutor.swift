package import Domain
import GatewayAPI
package import Logging

/// Serves other hosts' requests: commands for this host's meters (Docs/Relay.md#commands) and queries of meters' logs
/// (Docs/Relay.md#the-meters-log).
///
/// Runs on the session loop to check the lease at the time of the action.
package actor RequestExecutor {
    package typealias Part = @Sendable (LogQuestion) async throws(GatewayError) -> LogPart

    /// Performs an action before the deadline or not at all. Returns the JSON answer of this host's API, if any.
    package typealias Act =
        @Sendable (RelayAction, MeterID, _ deadline: MonotonicTime) async throws(GatewayError) -> String?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: any SessionLoop
    private let link: any RelayLink & LogLink
    private let keeper: LeaseKeeper
    private let isAllowed: Bool
    private let act: Act
    private let part: Part
    private let logger: Logger
    private let log: LogKeeper?
    private var duty = CommandDuty()
    private var questions = 0
    /// Maximum number of log queries answered at a time. Further ones get no answer, because the asking host would time
    /// out first.
    private static let questionsMax = 64

    package init(
        link: any RelayLink & LogLink, keeper: LeaseKeeper, isAllowed: Bool = true, loop: any SessionLoop,
        logger: Logger, log: LogKeeper? = nil, act: @escaping Act, part: @escaping Part
    ) {
        self.link = link
        self.keeper = keeper
        self.isAllowed = isAllowed
        self.loop = loop
        self.logger = logger
        self.log = log
        self.act = act
        self.part = part
    }

    /// Starts to serve a request, then returns: commands take seconds, and the next event must not wait.
    package func handle(_ event: CloudEvent) {
        switch event {
        case .command(let command): handle(command)
        case .log(let question):
            guard questions < Self.questionsMax else { return }
            questions += 1
            Task { await self.answer(question) }
        default: break
        }
    }

    // MARK: Commands

    private func handle(_ command: RelayCommand) {
        switch duty.received(command, holding: token(for: command), isAllowed: isAllowed) {
        case .ignore: break
        case .answer(let outcome): Task { await self.answer(command, outcome) }
        case .claim: Task { await self.serve(command) }
        }
    }

    private func serve(_ command: RelayCommand) async {
        let sent = loop.now
        let isGranted: Bool
        do throws(SyncFailure) {
            isGranted = try await link.claim(command, session: keeper.identity.session)
        } catch {
            // If the cloud granted the command but its answer was lost, no host executes the command. The cloud then
            // reports an unknown outcome.
            return logger.notice(
                "command of another host not executed: claim failed",
                metadata: ["meter.id": "\(command.meter)", "host": "\(command.authorName)", "cause": "\(error)"])
        }
        guard isGranted else { return }
        guard let deadline = CommandDuty.granted(command, sent: sent, holding: token(for: command), at: loop.now),
            let meter = held(command)?.meter
        else { return await answer(command, .notDone("it came too late, or the meter changed hands")) }
        await answer(command, await outcome(of: command, with: meter, by: deadline))
    }

    private func outcome(of command: RelayCommand, with meter: MeterID, by deadline: MonotonicTime) async
        -> RelayOutcome
    {
        do throws(GatewayError) {
            let author = LogAuthor.host(command.author, name: command.authorName)
            let order: MeterCommand? = if case .command(let order) = command.action { order } else { nil }
            let result = try await log.logging("\(command.action)", of: meter, by: author, sending: order) {
                () throws(GatewayError) in
                try await act(command.action, meter, deadline)
            }
            logger.notice(
                "command executed",
                metadata: [
                    "meter.id": "\(meter)", "host": "\(command.authorName)", "action": "\(command.action)",
                    "lease.token": "\(command.token.rawValue)",
                ])
            return .done(result: result)
        } catch {
            return .refused(code: error.code.rawValue, message: error.message, next: error.next)
        }
    }

    private func answer(_ command: RelayCommand, _ outcome: RelayOutcome) async {
        do throws(SyncFailure) {
            try await link.answer(command, outcome)
        } catch {
            logger.notice(
                "command outcome not reported",
                metadata: ["meter.id": "\(command.meter)", "host": "\(command.authorName)", "cause": "\(error)"])
        }
    }

    private func token(for command: RelayCommand) -> FencingToken? { held(command)?.token }

    private func held(_ command: RelayCommand) -> (meter: MeterID, token: FencingToken)? {
        keeper.assumeIsolated { $0.held(command.meter) }
    }

    // MARK: Questions about logs

    private func answer(_ question: LogQuestion) async {
        do {
            try await link.answer(question, with: try await part(question))
        } catch {
            // The cloud informs the asking host that this host did not answer.
            logger.notice(
                "log request not answered",
                metadata: ["meter.id": "\(question.meter)", "cause": "\(error)"])
        }
        questions -= 1
    }
}
