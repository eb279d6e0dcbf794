package import NIOCore
import NIOTLS

/// Result of a route's check of the client's access token, sent through the channel as an outbound event.
package enum ConnectionVerdict: Sendable {
    /// The client presented a valid token, so it has no more deadlines.
    case known
    /// The client received a response, but presented no valid token.
    case stranger
}

/// Closes a connection whose client exceeds a deadline: for the TLS handshake, for the head of the first request, and
/// after each response without a valid access token.
///
/// Add it at the pipeline's end, and the handler of `ConnectionLimit.strangerHandler()` at the front.
package final class ConnectionDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = Any
    package typealias InboundOut = Any
    package typealias OutboundIn = Any
    package typealias OutboundOut = Any

    private let patience: TimeAmount
    private var deadline: Scheduled<Void>?
    private var hasAsked = false
    private var isKnown = false

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
        guard let standing = event as? ConnectionVerdict else {
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

    /// Returns the pipeline's `ConnectionLimitHandler`; nil for a listener that has deadlines but no limit.
    private func front(_ context: ChannelHandlerContext) -> ConnectionLimitHandler? {
        try? context.pipeline.syncOperations.handler(type: ConnectionLimitHandler.self)
    }
}
