package import NIOCore

/// Closes a connection whose client accepts no data for too long, because an unread stream could block a shutdown or
/// keep its buffer.
package final class StalledWriteHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = Any
    package typealias InboundOut = Any

    private let patience: TimeAmount
    private var closing: Scheduled<Void>?

    /// - Parameter patience: maximum duration with a full send buffer.
    package init(patience: TimeAmount) { self.patience = patience }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
        if !context.channel.isWritable {
            let channel = context.channel
            closing = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
        context.fireChannelInactive()
    }
}
