package import LinuxIO
package import Logging
import ServiceLifecycle

/// Tells systemd, again and again, how the program is, and that it still moves.
///
/// Before each message every part of the program that must never hang is asked to do something. As long as one of them
/// does not, nothing is told, and systemd's watchdog runs out: it ends the program and starts it anew.
package struct ServiceReport: Service {
    private let manager: ServiceManager
    private let parts: [@Sendable () async -> Void]
    private let status: @Sendable () async -> String
    private let sleep: @Sendable (Duration) async throws -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - parts: each returns once the part has done something.
    ///   - status: one line for people.
    ///   - sleep: passes a time; throws where the task is cancelled.
    package init(
        to manager: ServiceManager, parts: [@Sendable () async -> Void], status: @escaping @Sendable () async -> String,
        sleep: @escaping @Sendable (Duration) async throws -> Void, logger: Logger
    ) {
        self.manager = manager
        self.parts = parts
        self.status = status
        self.sleep = sleep
        self.logger = logger
    }

    /// Three times within what the watchdog allows, so that one message that is late or lost does no harm.
    package static func interval(for limit: Duration?) -> Duration { (limit ?? .seconds(60)) / 3 }

    /// The program does now what it is for.
    package func ready() { tell { try manager.tell(.ready, waiting: true) } }

    /// Tells until graceful shutdown or cancellation, and then that the program ends.
    package func run() async throws {
        await cancelWhenGracefulShutdown { await tellOn() }
        tell { try manager.tell(.stopping, waiting: true) }
    }

    private func tellOn() async {
        let interval = Self.interval(for: manager.watchdogLimit)
        while !Task.isCancelled {
            for part in parts { await part() }
            let status = await status()
            tell { try manager.tell(.status(status), .alive) }
            do {
                try await sleep(interval)
            } catch {
                return
            }
        }
    }

    private func tell(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            logger.warning("the service manager cannot be told", metadata: ["cause": "\(error)"])
        }
    }
}
