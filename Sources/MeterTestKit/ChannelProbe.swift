package import Domain
package import LinuxIO
import Synchronization

/// Opens a channel, records its events and lets a test wait for the next event.
package final class ChannelProbe: Sendable {
    private let loop: IOLoop
    private let channel: any ByteChannel
    private let stream: AsyncStream<ChannelEvent>
    private let counter: Counter

    private final class Counter: Sendable {
        private let number = Mutex(0)
        func add() { number.withLock { $0 += 1 } }
        var value: Int { number.withLock { $0 } }
    }

    /// - Parameter open: runs on the thread of `loop` and opens a channel that calls the given handler.
    package init(
        on loop: IOLoop,
        _ open: @escaping @Sendable (_ handle: @escaping @Sendable (ChannelEvent) -> Void) -> any ByteChannel
    ) async throws {
        let (stream, report) = AsyncStream.makeStream(of: ChannelEvent.self)
        let counter = Counter()
        (self.stream, self.loop, self.counter) = (stream, loop, counter)
        channel = try await loop.perform {
            open {
                counter.add()
                report.yield($0)
            }
        }
    }

    package var eventCount: Int { counter.value }

    package func next() async -> ChannelEvent? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }

    package func send(_ bytes: [UInt8]) async throws {
        try await loop.perform { [channel] in channel.send(bytes) }
    }

    package func close(after pause: Duration = .zero) async throws {
        try await loop.perform { [channel] in channel.close(after: pause) }
    }
}

extension ChannelEvent {
    package var isOpened: Bool {
        if case .opened = self { true } else { false }
    }

    package var bytes: [UInt8]? {
        if case .received(let bytes) = self { bytes } else { nil }
    }

    package var failure: ChannelFailure? {
        if case .closed(let failure) = self { failure } else { nil }
    }
}
