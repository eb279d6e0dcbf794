import Domain
import Foundation
import Gateway
import GatewayAPI
import MeterTestKit
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Notifications

/// Against servers on this machine that answer well, badly, or not at all.
@Suite(.timeLimit(.minutes(10)))
struct NotifierTests {
    private func notice(_ event: AlertNotice.Event = .raised) throws -> AlertNotice {
        let rule = AlertRule(
            id: AlertID(rawValue: 7), meter: .mac(MACAddress(bits: 0x0200_0000_250C)),
            pattern: try AlertParser.pattern("current < 50mA for 2m"), name: "charged & done")
        return AlertNotice(
            event, rule, meterName: "bench", value: 0.0431, at: WallTime(millisecondsSince1970: 1_795_000_000_000))
    }

    private func send(
        _ kind: String, to server: AnsweringServer, path: String = "/hook", limit: Duration = .seconds(10),
        tokenPath: String? = nil
    ) async throws -> AlertDelivery {
        let address = try #require(NotificationAddress("http://127.0.0.1:\(server.port)\(path)"))
        let way: NotificationTarget.Way =
            switch kind {
            case "ntfy": .ntfy(address)
            case "gotify": .gotify(address)
            default: .webhook(address)
            }
        let target = NotificationTarget(name: "phone", way: way, tokenPath: tokenPath, limit: limit)
        return await Notifier([target], host: "pi", isRoot: false).send(try notice(), number: 3, to: "phone")
    }

    @Test func webhook_receivesTheFacts() async throws {
        let server = try await AnsweringServer("HTTP/1.1 204 No Content\r\n\r\n")

        #expect(try await send("webhook", to: server) == .delivered)

        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /hook HTTP/1.1\r\n"))
        let json = try #require(request.components(separatedBy: "\r\n\r\n").last)
        let body = try JSONDecoder().decode(AlertNoticeBody.self, from: Data(json.utf8))
        #expect((body.number, body.event, body.alert.id, body.alert.name) == (3, "raised", 7, "charged & done"))
        #expect(body.meter == .init(id: "02:00:00:00:25:0C", name: "bench"))
        #expect((body.quantity, body.value, body.unit, body.host) == ("current_A", 0.0431, "A", "pi"))
        #expect(body.message == "current < 50mA for 2m; it is 0.0431 A now")
        try await server.close()
    }

    @Test func token_isShown_asEachWantsIt() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/token"
        try "s3cret\n".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o600)
        let server = try await AnsweringServer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

        #expect(try await send("webhook", to: server, tokenPath: path) == .delivered)
        #expect(try await send("ntfy", to: server, path: "/topic", tokenPath: path) == .delivered)
        #expect(try await send("gotify", to: server, path: "", tokenPath: path) == .delivered)

        let requests = server.requests.map { $0.lowercased() }
        #expect(requests[0].contains("authorization: bearer s3cret"))
        #expect(requests[1].hasPrefix("post /topic?title=charged%20%26%20done%3a%20bench&tags=warning "))
        #expect(requests[1].contains("authorization: bearer s3cret"))
        #expect(requests[1].hasSuffix("current < 50ma for 2m; it is 0.0431 a now"))
        #expect(requests[2].hasPrefix("post /message "))
        #expect(requests[2].contains("x-gotify-key: s3cret"))
        try await server.close()
    }

    @Test func tokenThatOthersMayRead_isNotShown() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/token"
        try "s3cret".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o644)
        let server = try await AnsweringServer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

        let delivery = try await send("webhook", to: server, tokenPath: path)

        #expect(
            delivery
                == .failed(
                    "the token cannot be read from \(path): it is not a file that meterd alone may read (chmod 600)"))
        #expect(server.requests.isEmpty)
        try await server.close()
    }

    @Test(arguments: [
        ("500 Internal Server Error", AlertDelivery.failed("it answered 500")),
        ("429 Too Many Requests", .failed("it answered 429")),
        ("404 Not Found", .refused("it answered 404")),
        ("401 Unauthorized", .refused("it answered 401: correct the token")),
        ("302 Found\r\nlocation: http://127.0.0.1:1/", .refused("it answered 302, another address: correct the url")),
    ])
    func badAnswer_isJudged(answer: String, expected: AlertDelivery) async throws {
        let server = try await AnsweringServer("HTTP/1.1 \(answer)\r\ncontent-length: 0\r\n\r\n")

        #expect(try await send("webhook", to: server) == expected)
        #expect(server.requests.count == 1)
        try await server.close()
    }

    @Test func serverThatHangs_isGivenUp_atTheLimit() async throws {
        let server = try await AnsweringServer(nil)

        let delivery = try await send("webhook", to: server, limit: .milliseconds(300))

        #expect(delivery == .failed("no answer within 300ms"))
        try await server.close()
    }

    /// Its body never ends, and nobody reads it.
    @Test func answerWithoutEnd_isNotWaitedFor() async throws {
        let server = try await AnsweringServer("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\nxx")

        #expect(try await send("webhook", to: server, limit: .seconds(60)) == .delivered)
        try await server.close()
    }

    @Test func serverThatCloses_mayBeWellLater() async throws {
        let server = try await AnsweringServer("")

        #expect(try await send("webhook", to: server) == .failed("it closed the connection"))
        try await server.close()
    }

    @Test func noServer_isSaidWithoutTheAddress() async throws {
        let server = try await AnsweringServer("")
        try await server.close()

        let delivery = try await send("webhook", to: server, path: "/secret")

        #expect(delivery == .failed("no connection: Connection refused"))
    }

    @Test func unknownTarget_isRefused() async throws {
        let delivery = await Notifier([], host: "pi").send(try notice(), number: 1, to: "fax")

        #expect(delivery == .refused("this host has no [notify.fax]"))
    }
}

/// Programs that are told.
@Suite(.timeLimit(.minutes(10)))
struct ProgramNotificationTests {
    private func run(
        _ script: String, limit: Duration = .seconds(20), isRoot: Bool = false
    ) async throws -> AlertDelivery {
        let rule = AlertRule(
            id: AlertID(rawValue: 7), meter: .mac(MACAddress(bits: 0x0200_0000_250C)),
            pattern: try AlertParser.pattern("current < 50mA"), name: "a; touch b")
        let notice = AlertNotice(.raised, rule, value: 0.25, at: WallTime(millisecondsSince1970: 0))
        let target = NotificationTarget(name: "lamp", way: .program(["/bin/sh", "-c", script]), limit: limit)
        return await Notifier([target], host: "pi", isRoot: isRoot).send(notice, number: 3, to: "lamp")
    }

    @Test func program_isToldByItsEnvironment_alone() async throws {
        let folder = try TemporaryFolder()

        #expect(
            try await run(
                "env > \(folder.path)/told; pwd >> \(folder.path)/told; ls /proc/self/fd | wc -l >> \(folder.path)/told"
            ) == .delivered)

        let lines = try String(contentsOfFile: "\(folder.path)/told", encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("METER_ALERT_EVENT=raised"))
        #expect(lines.contains("METER_ALERT_NAME=a; touch b"))
        #expect(lines.contains("METER_ALERT_VALUE=0.25"))
        #expect(lines.contains("METER_ID=02:00:00:00:25:0C"))
        #expect(!lines.contains { $0.hasPrefix("HOME=") || $0.hasPrefix("METERD_") })
        #expect(lines.suffix(2).first == "/")
        // Its three, and the one through which ls reads the folder.
        #expect(lines.last == "4")
    }

    @Test func programThatFails_isSaidWithItsWords() async throws {
        #expect(try await run("echo no lamp here >&2; exit 3") == .failed("it ended with 3: no lamp here"))
    }

    @Test func programThatNeverEnds_isKilled_withAllThatItStarted() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/children"

        let delivery = try await run("sleep 1000 & echo $! > \(path); sleep 1000", limit: .seconds(3))

        #expect(delivery == .failed("it was killed after 3s"))
        let child = try #require(
            Int32(try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
        try await eventually("what was told arrives") { kill(child, 0) != 0 || state(of: child) == "Z" }
    }

    private func state(of process: Int32) -> Substring? {
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return text?.split(separator: ") ").last?.split(separator: " ").first
    }

    @Test func outputWithoutEnd_isReadAndDropped() async throws {
        #expect(
            try await run("head -c 5000000 /dev/zero | tr '\\0' x; exit 1")
                == .failed("it ended with 1: " + String(repeating: "x", count: 200)))
    }

    @Test func missingProgram_isRefused() async throws {
        let target = NotificationTarget(name: "lamp", way: .program(["/nowhere/lamp"]))
        let rule = AlertRule(
            id: AlertID(rawValue: 7), meter: .mac(MACAddress(bits: 1)), pattern: try AlertParser.pattern("stale"))
        let notice = AlertNotice(.raised, rule, at: WallTime(millisecondsSince1970: 0))

        let delivery = await Notifier([target], host: "pi", isRoot: false).send(notice, number: 1, to: "lamp")

        #expect(delivery == .refused("it cannot be started: No such file or directory"))
    }

    @Test func root_startsNoProgram() async throws {
        let folder = try TemporaryFolder()

        let delivery = try await run("touch \(folder.path)/told", isRoot: true)

        #expect(delivery == .refused("meterd runs as root, and starts no program then"))
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/told"))
    }
}

/// A server on this machine that reads a request, and answers it with a text; with nil it never does, with an empty one it
/// closes the connection.
final class AnsweringServer: Sendable {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let answer: String?
        private let take: @Sendable (String) -> Void
        private var text = ""

        init(_ answer: String?, _ take: @escaping @Sendable (String) -> Void) {
            self.answer = answer
            self.take = take
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard isWhole else { return }
            take(text)
            text = ""
            guard let answer else { return }
            guard !answer.isEmpty else { return context.close(promise: nil) }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }

        private var isWhole: Bool {
            guard let end = text.range(of: "\r\n\r\n") else { return false }
            let length = text.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
            return text[end.upperBound...].utf8.count >= length ?? 0
        }
    }

    let port: Int
    private let channel: any Channel
    private let taken: Taken

    private final class Taken: Sendable {
        let texts = Mutex<[String]>([])
    }

    init(_ answer: String?) async throws {
        let taken = Taken()
        self.taken = taken
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(answer) { text in taken.texts.withLock { $0.append(text) } })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    var requests: [String] { taken.texts.withLock { $0 } }

    func close() async throws { try await channel.close() }
}
