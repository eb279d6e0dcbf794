package import CloudAPI
import Synchronization

/// One event for all watchers of a meter, encoded once.
package final class RelayEvent: Sendable {
    package let body: RelayEventBody
    let measurements: Int
    private let text = Mutex<[UInt8]?>(nil)

    init(_ body: RelayEventBody) {
        self.body = body
        measurements = body.measurements
    }

    package func text(_ encode: (RelayEventBody) throws -> [UInt8]) throws -> [UInt8] {
        try text.withLock { text in
            if let text { return text }
            let made = try encode(body)
            text = made
            return made
        }
    }
}

extension RelayEventBody {
    var measurements: Int { batch?.readings.reduce(0) { $0 + ($1.count ?? 1) } ?? 0 }
}

/// Events of one meter that a host watches, to be iterated once. Releasing the subscription ends it.
///
/// A slow observer loses the oldest events, and receives the number of measurements in them (`Item.missed`). The stream
/// ends when the host's access token is revoked, when the meter's id turns out to be an alias, and at shutdown. The
/// host then subscribes again.
package struct RelaySubscription: AsyncSequence, Sendable {
    package struct Item: Sendable {
        package var event: RelayEvent
        /// Number of measurements lost just before this event.
        package var missed: Int
    }

    /// Maximum number of waiting events: four seconds of batches.
    static let waitingMax = 16

    struct Numbered: Sendable {
        var event: RelayEvent
        /// Number of measurements in all events before this one.
        var before: Int
    }

    let stream: AsyncStream<Numbered>
    /// Number of the meter's measurements sent before this subscription began.
    let first: Int

    package func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), expected: first) }

    package struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<Numbered>.Iterator
        var expected: Int

        package mutating func next() async -> Item? {
            await next(isolation: nil)
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async -> Item? {
            guard let next = await base.next(isolation: actor) else { return nil }
            defer { expected = next.before + next.event.measurements }
            return Item(event: next.event, missed: Swift.max(0, next.before - expected))
        }
    }
}
