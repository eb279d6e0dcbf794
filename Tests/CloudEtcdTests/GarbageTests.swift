import NIOCore
import NIOPosix
import Testing

@testable import CloudEtcd

/// Something else is on etcd's port.
struct GarbageTests {
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", EtcdError.Code.garbage),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", .garbage),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\n<html", .garbage),
        ("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n", .unreachable),
        ("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", .garbage),
        ("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"header\":", .timedOut),
        ("SSH-2.0-OpenSSH_9.2\r\n", .unreachable), ("", .unreachable),
    ])
    func open_saysSo_whenTheAnswerIsNoneOfEtcds(_ answer: String, _ code: EtcdError.Code) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FixedAnswer(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var settings = EtcdSettings(urls: ["http://127.0.0.1:\(server.localAddress?.port ?? 0)"])
        settings.patience = .zero
        settings.answerTimeout = .seconds(20)

        let error = await #expect(throws: EtcdError.self) { _ = try await EtcdCloudEngine.open(settings) }

        #expect(error?.code == code, "\(error?.message ?? "")")
        try await server.close()
    }
}

/// Answers whatever comes with the same, and hangs up.
private final class FixedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String

    init(_ answer: String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        context.close(promise: nil)
    }
}
