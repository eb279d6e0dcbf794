import ServiceLifecycle

/// A server that is begun anew where it cannot listen, so that what runs beside it goes on.
struct PatientServer: Service {
    /// How long it waits before it tries again: as the web page does.
    static let pause = Duration.seconds(10)

    /// The server, which can run once.
    let make: @Sendable () throws -> any Service
    /// Told why it could not be served. Nil: that is thrown, and ends the program.
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
            // Cut short by the shutdown, after which there is nothing left to try.
            try? await cancelWhenGracefulShutdown { [wait] in try await wait() }
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
        }
    }
}
