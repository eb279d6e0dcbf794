/// Cancels one asynchronous operation, but not the task around it.
struct Interruption: Sendable {
    private let signal: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (signal, continuation) = AsyncStream.makeStream() }

    /// Cancels the operation, even before it begins. Safe to repeat.
    func interrupt() { continuation.finish() }

    /// Runs `body`, cancels it on `interrupt`, and returns only after it has ended.
    func limit(_ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { for await _ in signal {} }
            // As soon as one task ends, cancel the other.
            await group.next()
            group.cancelAll()
        }
    }
}
