import GatewayAPI
package import Logging
import MeterModel
import SyncCore

/// Tells other hosts of the zone what this one has of meters' logs, when they ask (Docs/Relay.md#the-meters-log).
package final class LogServant: Sendable {
    /// Questions that may wait; the oldest go, as nobody waits for them any longer.
    private static let waitingMax = 64

    private let link: any LogLink
    private let log: ZoneLog
    private let logger: Logger
    private let questions: AsyncStream<LogQuestion>
    private let sink: AsyncStream<LogQuestion>.Continuation

    package init(link: any LogLink, log: ZoneLog, logger: Logger) {
        self.link = link
        self.log = log
        self.logger = logger
        (questions, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.waitingMax))
    }

    /// Returns at once: the next event must not wait for the answer.
    package func handle(_ event: CloudEvent) {
        if case .log(let question) = event { sink.yield(question) }
    }

    /// Answers until `shutdown` or cancellation.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await question in questions {
                group.addTask { await self.answer(question) }
            }
            group.cancelAll()
        }
    }

    package func shutdown() { sink.finish() }

    private func answer(_ question: LogQuestion) async {
        do {
            try await link.answer(question, with: try await log.part(for: question))
        } catch {
            // Whoever asked is told that this host did not answer.
            logger.notice(
                "another host's question about a meter's log is not answered",
                metadata: ["meter.id": "\(question.meter)", "cause": "\(error)"])
        }
    }
}
