package import HummingbirdCore
package import Logging
package import NIOCore
import NIOSSL

/// Serves TLS and plain text on one port. The first byte of a connection distinguishes them.
package struct FirstByteChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let tls: TLSKeeper

    package init(_ base: Base, tls: TLSKeeper) {
        self.base = base
        self.tls = tls
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(FirstByteHandler(tls))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    /// Handles a connection, and closes it on cancellation. The library would close only the connection's input, which
    /// is impossible under TLS.
    package func handle(value: Base.Value, logger: Logger) async {
        await withTaskCancellationHandler {
            await base.handle(value: value, logger: logger)
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

final class FirstByteHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// First byte of every TLS connection: a handshake record (RFC 8446, 5.1). No HTTP method begins with it.
    private static let handshake: UInt8 = 0x16

    private let tls: TLSKeeper

    init(_ tls: TLSKeeper) { self.tls = tls }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let first = unwrapInboundIn(data).readableBytesView.first else { return }
        if first == Self.handshake {
            guard let ready = tls.context() else { return context.close(promise: nil) }
            do {
                try context.pipeline.syncOperations.addHandler(
                    NIOSSLServerHandler(context: ready), position: .after(self))
            } catch {
                return context.close(promise: nil)
            }
        }
        context.fireChannelRead(data)
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}

extension Channel {
    /// Whether the client uses TLS; false once the client has disconnected.
    package var isTLS: Bool {
        get async {
            do {
                try await pipeline.containsHandler(type: NIOSSLServerHandler.self).get()
                return true
            } catch {
                return false
            }
        }
    }
}
