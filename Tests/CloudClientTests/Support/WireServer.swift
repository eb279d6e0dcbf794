import CloudServer
import NIOCore
import NIOPosix
import NIOSSL
import ServerKit
import Synchronization

/// Something that listens where a cloud should be: it sends what it is told to, and remembers what it was sent.
final class WireServer: Sendable {
    /// What it does once a request's head is complete.
    enum Reply: Sendable {
        /// Sends this and closes the connection.
        case closing(String)
        /// Sends this and keeps the connection open.
        case keeping(String)
        /// Sends this, and then a blank each few milliseconds for ever.
        case dripping(String)
    }

    private struct Seen {
        var text = ""
        var connections = 0
        var closed = 0
    }

    private let seen = Mutex(Seen())
    private let reply: Reply
    private let listener: any Channel
    private let closings: AsyncStream<Void>
    private let closed: AsyncStream<Void>.Continuation

    private init(
        reply: Reply, listener: any Channel, closings: (AsyncStream<Void>, AsyncStream<Void>.Continuation)
    ) {
        self.reply = reply
        self.listener = listener
        (self.closings, closed) = closings
    }

    /// - Parameter certificate: nil: no TLS.
    static func start(_ reply: Reply, certificate: ServerCertificate? = nil) async throws -> WireServer {
        let holder = Holder()
        let context = try certificate.map { try NIOSSLContext(configuration: try $0.tlsConfiguration()) }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(Wire(holder: holder))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = WireServer(reply: reply, listener: listener, closings: (stream, continuation))
        holder.set(server)
        return server
    }

    var port: Int { listener.localAddress?.port ?? 0 }
    /// All that clients sent, without encryption.
    var received: String { seen.withLock { $0.text } }
    var connections: Int { seen.withLock { $0.connections } }

    func stop() async throws { try await listener.close() }

    /// Returns once so many connections were closed.
    func awaitClosings(_ count: Int) async {
        for await _ in closings where seen.withLock({ $0.closed >= count }) { return }
    }

    fileprivate func opened() { seen.withLock { $0.connections += 1 } }

    fileprivate func ended() {
        seen.withLock { $0.closed += 1 }
        closed.yield()
    }

    fileprivate func took(_ text: String, on channel: any Channel) {
        seen.withLock { $0.text += text }
        guard received.contains("\r\n\r\n") else { return }
        switch reply {
        case .closing(let text):
            channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in channel.close(promise: nil) }
        case .keeping(let text): channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        case .dripping(let text):
            channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
            channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(5)) { task in
                guard channel.isActive else { return task.cancel() }
                channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
            }
        }
    }
}

/// The server that a connection belongs to, which is there before the first one comes.
private final class Holder: Sendable {
    private let server = Mutex<WireServer?>(nil)

    func set(_ server: WireServer) { self.server.withLock { $0 = server } }

    var value: WireServer? { server.withLock { $0 } }
}

private final class Wire: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let holder: Holder

    init(holder: Holder) { self.holder = holder }

    func channelActive(context: ChannelHandlerContext) { holder.value?.opened() }

    func channelInactive(context: ChannelHandlerContext) { holder.value?.ended() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        holder.value?.took(String(buffer: unwrapInboundIn(data)), on: context.channel)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
