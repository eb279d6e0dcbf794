package import CloudAPI

/// What one host is told of its zone while it listens, for one loop over it.
///
/// Ends when the host is too slow, when its token is revoked and at shutdown: it connects again then, and lists anew.
/// Letting go of it, or cancelling the loop, gives up the host's places in all queues.
package struct EventSubscription: AsyncSequence, Sendable {
    package typealias Element = EventBody

    package func makeAsyncIterator() -> Iterator { Iterator() }

    package struct Iterator: AsyncIteratorProtocol {
        package mutating func next() async -> EventBody? { await next(isolation: nil) }

        package mutating func next(isolation actor: isolated (any Actor)?) async -> EventBody? { nil }
    }
}
