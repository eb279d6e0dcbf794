import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import Synchronization

/// Event streams that hosts of a fleet have open, until the value's task ends.
final class FleetStreams: Sendable {
    private let events = Atomic<Int>(0)
    private let opened = Atomic<Int>(0)
    private let ended = Atomic<Int>(0)

    /// Of all streams, pings too.
    var eventCount: Int { events.load(ordering: .relaxed) }
    var endedCount: Int { ended.load(ordering: .relaxed) }

    /// Opens them, does what is to be done meanwhile, and closes them.
    ///
    /// - Parameter clients: with a connection for each stream.
    func whileOpen<Value: Sendable>(
        _ count: Int, of fleet: Fleet, over clients: [LoadClient], _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                // Spread over all zones.
                let index = number * max(1, fleet.count / max(1, count))
                let host = fleet.host(index)
                let client = clients[index % fleet.count % clients.count]
                group.addTask { [self] in
                    let pieces = try await client.stream(.GET, Fleet.path(host.zone, "events"), token: host.token)
                    opened.wrappingAdd(1, ordering: .relaxed)
                    for try await piece in pieces {
                        let count = piece.readableBytesView.count(of: Array("\n\n".utf8))
                        events.wrappingAdd(count, ordering: .relaxed)
                    }
                    ended.wrappingAdd(1, ordering: .relaxed)
                }
            }
            let deadline = Clocks.wall + 60
            while opened.load(ordering: .relaxed) < count {
                guard Clocks.wall < deadline else {
                    throw BenchmarkError("\(opened.load(ordering: .relaxed)) of \(count) event streams opened")
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
