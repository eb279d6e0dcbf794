/// Cancels one asynchronous operation, but not the task that awaits it.
struct Interruption: Sendable {
    private let signal: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (signal, continuation) = AsyncStream.makeStream() }

    func interrupt() { continuation.finish() }

    /// Runs `body`, which `interrupt` cancels. Returns after it ended.
    func limit(_ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { for await _ in signal {} }
            await group.next()
            group.cancelAll()
        }
    }
}
