import LinuxIO
import ServiceLifecycle

/// Returns freed memory to the system, once a minute.
package struct MemoryService: Service {
    private static let interval = Duration.seconds(60)

    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: throws if the task is cancelled.
    package init(sleep: @escaping @Sendable (Duration) async throws -> Void) { self.sleep = sleep }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await sleep(Self.interval)) != nil { FreedMemory.giveBack() }
        }
    }
}
