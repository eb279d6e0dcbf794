import NIOCore
import NIOPosix
import Synchronization

/// Stands between a copy and a member of etcd and passes everything on, until it is told to keep one answer back: the
/// request arrives, is done, and the connection ends before anybody hears so.
final class AnswerRelay: Sendable {
    /// Called once etcd has answered what nobody will hear.
    typealias Meanwhile = @Sendable () async -> Void

    private let member: Int
    private let loss = Mutex<Meanwhile?>(nil)
    private let server = Mutex<(any Channel)?>(nil)

    /// - Parameter member: the port on which etcd listens.
    init(to member: Int) async throws {
        self.member = member
        let group = MultiThreadedEventLoopGroup.singleton
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { [self] client in
                client.setOption(.autoRead, value: false).flatMap { [self] in
                    ClientBootstrap(group: client.eventLoop)
                        .connect(host: "127.0.0.1", port: self.member)
                        .flatMapThrowing { [self] etcd in
                            try client.pipeline.syncOperations.addHandler(PassOn(to: etcd))
                            try etcd.pipeline.syncOperations.addHandler(PassOn(to: client, unless: { self.takeLoss() }))
                        }
                }.flatMap { client.setOption(.autoRead, value: true) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.withLock { $0 = channel }
    }

    var url: String { "http://127.0.0.1:\(server.withLock { $0?.localAddress?.port ?? 0 })" }

    /// The next answer on any connection is lost.
    func loseNextAnswer(meanwhile: @escaping Meanwhile) { loss.withLock { $0 = meanwhile } }

    func close() async throws { try await server.withLock { $0 }?.close() }

    private func takeLoss() -> Meanwhile? {
        loss.withLock { loss in
            defer { loss = nil }
            return loss
        }
    }
}

/// One direction of one connection.
private final class PassOn: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let lost: () -> AnswerRelay.Meanwhile?
    private var isLosing = false

    init(to other: any Channel, unless lost: @escaping () -> AnswerRelay.Meanwhile? = { nil }) {
        self.other = other
        self.lost = lost
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isLosing else { return }
        guard let meanwhile = lost() else {
            other.writeAndFlush(unwrapInboundIn(data), promise: nil)
            return
        }
        isLosing = true
        let (own, other) = (context.channel, other)
        Task {
            await meanwhile()
            other.close(promise: nil)
            own.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isLosing { other.close(promise: nil) }
        context.fireChannelInactive()
    }
}
