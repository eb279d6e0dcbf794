package import NIOCore
import NIOTLS

/// What a route has found out about the client of a connection. Sent through its channel as an outbound event.
package enum ConnectionStanding: Sendable {
    /// It has presented a valid token: from now on it may take its time.
    case known
    /// It got a response without one.
    case stranger
}

/// Closes a connection whose client does not say in time what it wants: until TLS is set up, from then to the end of
/// the first request's head, and, without a valid token, after each response.
///
/// At the pipeline's end: the first thing to reach it is the head of a request. Requires the handler of
/// `ConnectionLimit.strangerHandler()` at the front.
package final class ConnectionDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = Any
    package typealias InboundOut = Any
    package typealias OutboundIn = Any
    package typealias OutboundOut = Any

    private let patience: TimeAmount
    private var deadline: Scheduled<Void>?
    private var hasAsked = false
    private var isKnown = false

    /// - Parameter patience: how long each of the steps may take.
    package init(patience: TimeAmount) { self.patience = patience }

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { arm(context) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        arm(context)
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        disarm()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) { disarm() }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent, !hasAsked { arm(context) }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasAsked {
            hasAsked = true
            disarm()
        }
        context.fireChannelRead(data)
    }

    package func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard let standing = event as? ConnectionStanding else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        switch standing {
        case .known:
            disarm()
            if !isKnown { front(context)?.know() }
            isKnown = true
        case .stranger: if !isKnown { arm(context) }
        }
        promise?.succeed(())
    }

    private func arm(_ context: ChannelHandlerContext) {
        disarm()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: patience) {
            let (handler, context) = bound.value
            if let front = handler.front(context) { front.closeAtOnce() } else { context.close(promise: nil) }
        }
    }

    private func disarm() {
        deadline?.cancel()
        deadline = nil
    }

    /// The handler that counts this connection; without one, a listener has only deadlines.
    private func front(_ context: ChannelHandlerContext) -> ConnectionLimitHandler? {
        try? context.pipeline.syncOperations.handler(type: ConnectionLimitHandler.self)
    }
}
