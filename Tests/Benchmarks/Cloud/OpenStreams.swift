import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import Synchronization

/// Answers without an end, all read at the same time.
final class OpenStreams: Sendable {
    /// Where one comes from.
    struct Source: Sendable {
        /// With a connection that is free for it.
        var client: LoadClient
        var path: String
        /// A bearer token; nil where none is asked for.
        var token: String?
    }

    /// Is given the number of a source, and a piece of what comes from it, at once.
    typealias Hear = @Sendable (_ source: Int, _ piece: ByteBuffer) -> Void

    private let hear: Hear
    private let opened = Atomic<Int>(0)
    private let ended = Atomic<Int>(0)

    /// Streams that the other side ended.
    var endedCount: Int { ended.load(ordering: .relaxed) }

    init(hear: @escaping Hear) { self.hear = hear }

    /// Opens them, does what is to be done meanwhile, and closes them.
    ///
    /// - Throws: what `body` throws; a `BenchmarkError` where not all of them open within a minute.
    func whileOpen<Value: Sendable>(
        _ sources: [Source], _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, source) in sources.enumerated() {
                group.addTask { [self] in
                    let pieces = try await source.client.stream(.GET, source.path, token: source.token)
                    opened.wrappingAdd(1, ordering: .relaxed)
                    for try await piece in pieces { hear(number, piece) }
                    ended.wrappingAdd(1, ordering: .relaxed)
                }
            }
            let deadline = Clocks.wall + 60
            while opened.load(ordering: .relaxed) < sources.count {
                guard Clocks.wall < deadline else {
                    throw BenchmarkError("\(opened.load(ordering: .relaxed)) of \(sources.count) streams opened")
                }
                try await Clocks.wait(until: Clocks.wall + 0.05)
            }
            let value = try await body()
            group.cancelAll()
            // They end by being cancelled, which they say.
            while let result = await group.nextResult() { _ = result }
            return value
        }
    }
}
