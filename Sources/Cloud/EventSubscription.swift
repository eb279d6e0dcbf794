package import CloudAPI

/// Events of a zone for one listening host, to be iterated once.
///
/// Ends when the host is too slow, when its access token is revoked, and at shutdown; the host then reconnects and
/// lists everything. Releasing the subscription, or cancelling the loop over it, removes the host from all queues.
package struct EventSubscription: AsyncSequence, Sendable {
    package typealias Element = EventBody

    /// Its release informs the hub that the last copy of the subscription is gone.
    final class Handle: Sendable {
        let buffer: EventBuffer
        private let ended: @Sendable () -> Void

        init(buffer: EventBuffer, ended: @escaping @Sendable () -> Void) {
            self.buffer = buffer
            self.ended = ended
        }

        deinit { ended() }
    }

    private let handle: Handle

    init(_ handle: Handle) { self.handle = handle }

    package func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

    package struct Iterator: AsyncIteratorProtocol {
        let handle: Handle

        package mutating func next() async -> EventBody? { await handle.buffer.next() }

        package mutating func next(isolation actor: isolated (any Actor)?) async -> EventBody? {
            await handle.buffer.next()
        }
    }
}
