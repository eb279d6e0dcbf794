import ServiceLifecycle

/// A server that retries if it cannot listen, while other services continue.
struct RetryingServer: Service {
    /// Retry interval, as for the web page.
    static let pause = Duration.seconds(10)

    /// Makes the server, which can run once.
    let make: @Sendable () throws -> any Service
    /// Called with the reason if it cannot listen. If nil, the error is thrown and ends the program.
    let failed: (@Sendable (any Error) async -> Void)?
    var wait: @Sendable () async throws -> Void = { try await ContinuousClock().sleep(for: Self.pause) }

    func run() async throws {
        while true {
            do {
                return try await make().run()
            } catch {
                guard let failed, !Task.isCancelled, !Task.isShuttingDownGracefully else { throw error }
                await failed(error)
            }
            // Ends early at shutdown, after which no retry follows.
            try? await cancelWhenGracefulShutdown { [wait] in try await wait() }
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
        }
    }
}
