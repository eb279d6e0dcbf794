/// Cuts one piece of work short, without cancelling what it is part of.
struct Interruption: Sendable {
    private let signal: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (signal, continuation) = AsyncStream.makeStream() }

    /// Cancels the work, at once or as soon as it begins. Doing it twice is harmless.
    func interrupt() { continuation.finish() }

    /// Runs `body` to its end, cancelled when `interrupt` is called. Returns only once it has ended.
    func limit(_ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { for await _ in signal {} }
            // Whichever ends first ends the other.
            await group.next()
            group.cancelAll()
        }
    }
}
