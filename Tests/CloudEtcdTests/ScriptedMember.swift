import NIOCore
import NIOPosix
import Synchronization

/// A member of etcd that answers as a test says: from a list, in order, after which it hangs up, or by the request.
final class ScriptedMember: Sendable {
    struct Answer: Sendable {
        /// Nothing is answered, and the connection stays.
        static let silence = Answer(0, "")

        var status: Int
        var body: String

        init(_ status: Int, _ body: String) { (self.status, self.body) = (status, body) }
        init(_ body: String) { self.init(200, body) }
    }

    struct Request: Hashable, Sendable {
        var path: String
        var ticket: String?
        var body: String
    }

    private final class Script: Sendable {
        private let answers: Mutex<[Answer]>

        init(_ answers: [Answer]) { self.answers = Mutex(answers) }

        func next() -> Answer? { answers.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    private let answer: @Sendable (Request) -> Answer?
    private let taken = Mutex<[Request]>([])
    private let server = Mutex<(any Channel)?>(nil)

    convenience init(_ answers: [Answer]) async throws {
        let script = Script(answers)
        try await self.init { _ in script.next() }
    }

    /// - Parameter answer: nil to hang up.
    init(_ answer: @escaping @Sendable (Request) -> Answer?) async throws {
        self.answer = answer
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Connection(take))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.withLock { $0 = channel }
    }

    var url: String { "http://127.0.0.1:\(server.withLock { $0?.localAddress?.port ?? 0 })" }

    var requests: [Request] { taken.withLock { $0 } }

    func close() async throws { try await server.withLock { $0 }?.close() }

    @Sendable private func take(_ request: Request) -> Answer? {
        taken.withLock { $0.append(request) }
        return answer(request)
    }

    /// One request, and its answer.
    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: (Request) -> Answer?
        private var text = ""

        init(_ answer: @escaping (Request) -> Answer?) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let request = Self.request(text) else { return }
            if let answer = answer(request) {
                guard answer.status > 0 else { return }
                let head =
                    "HTTP/1.1 \(answer.status) Any\r\ncontent-length: \(answer.body.utf8.count)\r\nconnection: close"
                context.writeAndFlush(
                    wrapOutboundOut(ByteBuffer(string: "\(head)\r\n\r\n\(answer.body)")), promise: nil)
            }
            context.close(promise: nil)
        }

        /// Nil until all of it has come.
        private static func request(_ text: String) -> Request? {
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let lines = parts[0].split(separator: "\r\n")
            func value(_ name: String) -> String? {
                lines.first { $0.lowercased().hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
            }
            guard parts[1].utf8.count >= value("content-length").flatMap({ Int($0) }) ?? 0 else { return nil }
            let path = lines.first?.split(separator: " ").dropFirst().first ?? ""
            return Request(path: String(path), ticket: value("authorization"), body: String(parts[1]))
        }
    }
}
