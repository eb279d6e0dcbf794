import Gateway
import LinuxIO
import MeterModel
import MeterTestKit
import Synchronization

@testable import USBTransport

/// Opens a channel, keeps what it says and lets a test wait for the next of it.
final class ChannelProbe: Sendable {
    private let loop: IOLoop
    private let channel: any ByteChannel
    private let report: AsyncStream<ChannelEvent>.Continuation
    private let stream: AsyncStream<ChannelEvent>
    private let counter: Counter

    private final class Counter: Sendable {
        private let number = Mutex(0)
        func add() { number.withLock { $0 += 1 } }
        var value: Int { number.withLock { $0 } }
    }

    /// - Parameter stallLimit: by default longer than any busy machine keeps a test waiting.
    init(_ path: String, on loop: IOLoop, stallLimit: Duration = .seconds(3600)) async throws {
        let (stream, report) = AsyncStream.makeStream(of: ChannelEvent.self)
        let counter = Counter()
        let opener = SerialChannelOpener(loop: loop, stallLimit: stallLimit)
        (self.stream, self.report, self.loop, self.counter) = (stream, report, loop, counter)
        channel = try await loop.perform {
            opener.open(.serial(path: path), baudRate: 115_200) {
                counter.add()
                report.yield($0)
            }
        }
    }

    /// How often the channel has called so far.
    var eventCount: Int { counter.value }

    func next() async -> ChannelEvent? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }

    func send(_ bytes: [UInt8]) async throws {
        try await loop.perform { [channel] in channel.send(bytes) }
    }

    func close() async throws {
        try await loop.perform { [channel] in channel.close() }
    }
}

extension ChannelEvent {
    var isOpened: Bool {
        if case .opened = self { true } else { false }
    }

    var bytes: [UInt8]? {
        if case .received(let bytes) = self { bytes } else { nil }
    }

    var failure: ChannelFailure? {
        if case .closed(let failure) = self { failure } else { nil }
    }
}
