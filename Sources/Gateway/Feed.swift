import Synchronization

/// Hands values to whoever listens, each listener with a bounded buffer of its own.
///
/// A listener that is too slow loses the oldest values and is told how many (`Item.missed`); nobody else slows down.
/// With no listener, yielding costs one lock.
package final class Feed<Value: Sendable>: Sendable {
    package struct Item: Sendable {
        package var value: Value
        /// Values this listener lost just before this one.
        package var missed: Int
    }

    private struct Listener {
        var continuation: AsyncStream<Item>.Continuation
        var missed = 0
    }

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var nextID: UInt64 = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    package init() {}

    package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    package func yield(_ value: Value) {
        state.withLock { state in
            for id in state.listeners.keys {
                guard var listener = state.listeners[id] else { continue }
                let result = listener.continuation.yield(Item(value: value, missed: listener.missed))
                // A dropped item takes its own count of missed ones with it, so the sum carries over.
                if case .dropped(let item) = result { listener.missed += 1 + item.missed } else { listener.missed = 0 }
                state.listeners[id] = listener
            }
        }
    }

    /// - Parameter buffer: how many values may wait for this listener.
    package func subscribe(buffer: Int = 256) -> AsyncStream<Item> {
        let (stream, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingNewest(buffer))
        let id: UInt64? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.nextID += 1
            state.listeners[state.nextID] = Listener(continuation: continuation)
            return state.nextID
        }
        if let id {
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
            }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Ends every listener's stream, and of those to come.
    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.continuation.finish() }
    }
}
