package import LinuxIO
package import Logging
import ServiceLifecycle

/// Reports the program's status to systemd at intervals, as a watchdog keep-alive.
///
/// Before each message, waits for every part of `parts`. While a part hangs, sends nothing, so systemd's watchdog
/// restarts the program.
package struct ServiceReport: Service {
    private let manager: ServiceManager
    private let parts: [@Sendable () async -> Void]
    private let status: @Sendable () async -> String
    private let sleep: @Sendable (Duration) async throws -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - parts: closures; each returns once its part of the program has done some work.
    ///   - sleep: throws if the task is cancelled.
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

    /// Returns a third of the watchdog's limit, so that one late or lost message does no harm; 20 s without a watchdog.
    package static func interval(for limit: Duration?) -> Duration { (limit ?? .seconds(60)) / 3 }

    package func ready() { tell { try manager.tell(.ready, waiting: true) } }

    /// Reports until shutdown or cancellation, then reports that the program is ending.
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
            logger.warning("service manager not notified", metadata: ["cause": "\(error)"])
        }
    }
}
