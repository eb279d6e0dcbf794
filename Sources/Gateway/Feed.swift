import Synchronization

/// Hands values to whoever listens, each listener with a bounded buffer of its own.
///
/// A listener that is too slow loses the oldest values and is told how many (`Item.missed`); nobody else slows down.
/// With no listener, yielding costs two locks.
package final class Feed<Value: Sendable>: Sendable {
    package struct Item: Sendable {
        package var value: Value
        /// Values this listener lost just before this one.
        package var missed: Int
    }

    fileprivate struct Numbered: Sendable {
        var value: Value
        /// Counts all values of the feed, so that a gap shows what was lost.
        var number: UInt64
    }

    private struct State {
        var listeners: [UInt64: AsyncStream<Numbered>.Continuation] = [:]
        var nextID: UInt64 = 0
        var isFinished = false
    }

    /// The number that the next value gets. Locked until every listener has it, so that all get them in the same order.
    private let nextNumber = Mutex<UInt64>(0)
    /// Never locked while a listener is told something: who leaves locks it with its task locked, and being told locks the
    /// task (`withTaskCancellationHandler`, "Cancellation handlers and locks"). Locked after `nextNumber`.
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

    /// - Parameter buffer: how many values may wait for this listener.
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

    /// Ends every listener's stream, and of those to come.
    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    /// One listener's values, for one loop over them. Letting go of it, or cancelling the loop, ends it.
    package struct Subscription: AsyncSequence, Sendable {
        fileprivate let stream: AsyncStream<Numbered>
        /// The number of the first value that is this listener's.
        fileprivate let first: UInt64

        package func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), expected: first) }

        package struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<Numbered>.Iterator
            /// The number that comes next where nothing is lost.
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
