import GatewayAPI

/// Redraws the screen every second, and immediately when settings change here or on another host.
enum Redraw {
    static func loop(_ client: ControlClient, _ draw: () async throws -> Void) async throws {
        let (ticks, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    sink.yield()
                    try await Task.sleep(for: .seconds(1))
                }
            }
            group.addTask {
                do {
                    try await client.lines("/v1/refreshes", as: RefreshLine.self) { _ in sink.yield() }
                } catch {
                    // Ignore the error: the next request reports it, and the timer still redraws every second.
                }
            }
            defer { group.cancelAll() }
            for await _ in ticks { try await draw() }
        }
    }
}
