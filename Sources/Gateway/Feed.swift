import Synchronization

/// Distributes values to listeners, each with its own bounded buffer.
///
/// A slow listener loses the oldest values and receives their number (`Item.missed`).
package final class Feed<Value: Sendable>: Sendable {
    package struct Item: Sendable {
        package var value: Value
        /// Number of values lost just before this one.
        package var missed: Int
    }

    fileprivate struct Numbered: Sendable {
        var value: Value
        /// Position of the value in the feed. A gap shows lost values.
        var number: UInt64
    }

    private struct State {
        var listeners: [UInt64: AsyncStream<Numbered>.Continuation] = [:]
        var nextID: UInt64 = 0
        var isFinished = false
    }

    /// Locked until every listener has the value, so that all receive values in the same order.
    private let nextNumber = Mutex<UInt64>(0)
    /// Locked after `nextNumber`. Never resume a listener under this lock: cancellation already holds the task lock
    /// (`withTaskCancellationHandler`, "Cancellation handlers and locks").
    private let state = Mutex(State())

    package init() {}

    package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    package func yield(_ value: Value) {
        nextNumber.withLock { number in
            let numbered = Numbered(value: value, number: number)
            number += 1
            for listener in state.withLock({ $0.listeners }).values { listener.yield(numbered) }
        }
    }

    /// - Parameter buffer: maximum number of waiting values.
    package func subscribe(buffer: Int = 256) -> Subscription {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Numbered.self, bufferingPolicy: .bufferingNewest(buffer))
        let first = nextNumber.withLock { number in
            let isOpen = state.withLock { state in
                guard !state.isFinished else { return false }
                state.nextID += 1
                let id = state.nextID
                continuation.onTermination = { [weak self] _ in
                    _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
                }
                state.listeners[id] = continuation
                return true
            }
            if !isOpen { continuation.finish() }
            return number
        }
        return Subscription(stream: stream, first: first)
    }

    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    /// Values for one `for` loop. Releasing the subscription or cancelling the loop's task ends it.
    package struct Subscription: AsyncSequence, Sendable {
        fileprivate let stream: AsyncStream<Numbered>
        fileprivate let first: UInt64

        package func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), expected: first) }

        package struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<Numbered>.Iterator
            fileprivate var expected: UInt64

            package mutating func next() async -> Item? {
                await next(isolation: nil)
            }

            package mutating func next(isolation actor: isolated (any Actor)?) async -> Item? {
                guard let numbered = await base.next(isolation: actor) else { return nil }
                defer { expected = numbered.number + 1 }
                return Item(value: numbered.value, missed: Int(clamping: numbered.number - expected))
            }
        }
    }
}
