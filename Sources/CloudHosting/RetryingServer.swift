import ServiceLifecycle

/// A server that retries if it cannot listen, while other services continue.
struct RetryingServer: Service {
    static let pause = Duration.seconds(10)

    /// Returns a new server for each attempt, because a server can run only once.
    let make: @Sendable () throws -> any Service
    /// Called with the reason if the server cannot listen. If nil, the error is thrown and ends the program.
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
            try? await cancelWhenGracefulShutdown { [wait] in try await wait() }
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
        }
    }
}
