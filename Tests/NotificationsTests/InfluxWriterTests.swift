import Domain
import Foundation
import MeterTestKit
import Testing

@testable import Notifications

/// Against servers on this machine that answer as InfluxDB and VictoriaMetrics do.
@Suite(.timeLimit(.minutes(10)))
struct InfluxWriterTests {
    private static let ownLog = "see what the server's own log says; meterd tries again by itself"

    private func send(
        to server: AnsweringServer, _ place: InfluxTarget.Place = .bucket("my bucket", org: "home"), path: String = "",
        token: String? = nil, user: String? = nil, limit: Duration = .seconds(10)
    ) async throws -> SendAnswer {
        let folder = try TemporaryFolder()
        var target = InfluxTarget(
            address: try #require(NotificationAddress("http://127.0.0.1:\(server.port)\(path)")), place: place)
        target.limit = limit
        target.user = user
        if let token {
            target.tokenPath = "\(folder.path)/token"
            try "\(token)\n".write(toFile: "\(folder.path)/token", atomically: true, encoding: .utf8)
            chmod("\(folder.path)/token", 0o600)
        }
        return await InfluxWriter(target).send(Array("meter,id=a voltage_V=5.0 1780000000250\n".utf8))
    }

    @Test func bucket_isWrittenToAsInfluxDB2Wants() async throws {
        let server = try await AnsweringServer("HTTP/1.1 204 No Content\r\n\r\n")

        #expect(try await send(to: server, path: "/", token: "s3cret==") == .taken)

        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /api/v2/write?bucket=my%20bucket&org=home&precision=ms HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("authorization: token s3cret=="))
        #expect(request.hasSuffix("\r\n\r\nmeter,id=a voltage_V=5.0 1780000000250\n"))
        try await server.close()
    }

    @Test func database_isWrittenToAsInfluxDB1AndVictoriaMetricsWant() async throws {
        let server = try await AnsweringServer("HTTP/1.1 204 No Content\r\n\r\n")

        #expect(try await send(to: server, .database("home"), path: "/influx", token: "pass", user: "ann") == .taken)
        #expect(try await send(to: server, .database("home"), token: "t") == .taken)

        #expect(server.requests[0].hasPrefix("POST /influx/write?db=home&precision=ms HTTP/1.1\r\n"))
        // As `printf ann:pass | base64` has it.
        #expect(server.requests[0].contains("Basic YW5uOnBhc3M="))
        #expect(server.requests[1].contains("Bearer t"))
        try await server.close()
    }

    @Test(arguments: [
        ("413 Payload Too Large", "", SendAnswer.tooLarge),
        ("400 Bad Request", "", .unwanted("it answered 400: what it says")),
        ("422 Unprocessable Entity", "", .unwanted("it answered 422: what it says")),
        (
            "401 Unauthorized", "",
            .refused("it answered 401: what it says", next: "correct the token, or what it may write to")
        ),
        (
            "404 Not Found", "",
            .refused(
                "it answered 404: what it says",
                next: "see whether there is such a bucket or database; url is what comes before /api or /write")
        ),
        (
            "307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n",
            .refused("it answered 307: what it says, another address", next: "correct [influx] url")
        ),
        (
            "429 Too Many Requests", "retry-after: 42\r\n",
            .later(after: .seconds(42), "it answered 429: what it says", next: Self.ownLog)
        ),
        (
            "503 Service Unavailable", "retry-after: soon\r\n",
            .later(after: nil, "it answered 503: what it says", next: Self.ownLog)
        ),
        (
            "500 Internal Server Error", "retry-after: -1\r\n",
            .later(after: nil, "it answered 500: what it says", next: Self.ownLog)
        ),
    ])
    func whatAServerSays_isUnderstood(status: String, header: String, answer: SendAnswer) async throws {
        let server = try await AnsweringServer(
            "HTTP/1.1 \(status)\r\n\(header)content-length: 14\r\n\r\nwhat\nit\nsays\n\n")

        #expect(try await send(to: server) == answer)

        try await server.close()
    }

    /// As InfluxDB 1.6.7 says it, and as InfluxDB 2.6.1 does.
    @Test(arguments: [
        ("400 Bad Request", #"{"error":"partial write: points beyond retention policy dropped=11"}"#, 11),
        (
            "422 Unprocessable Entity",
            #"{"code":"unprocessable entity","message":"failure writing points to database: partial write: points beyond retention policy dropped=1"}"#,
            1
        ),
        ("400 Bad Request", #"{"error":"partial write: unable to parse 'x': missing fields"}"#, nil),
        ("400 Bad Request", #"{"error":"partial write dropped=99999999999999999999"}"#, nil),
    ])
    func partialWrite_isTold_withHowManyPointsItDropped(status: String, body: String, dropped: Int?) async throws {
        let server = try await AnsweringServer(
            "HTTP/1.1 \(status)\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")

        let answer = try await send(to: server)

        guard case .partly(dropped, let cause) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(cause.hasPrefix("it answered \(status.prefix(3)): ") && cause.contains("partial write"))
        try await server.close()
    }

    /// VictoriaMetrics 1.79.5 repeats the address that it does not know; a server might repeat more.
    @Test func secrets_areHidden_whoeverRepeatsThem() async throws {
        let said = "unsupported path requested: /s3cr3t/write; Authorization: Basic YW5uOnBhc3M=, pass"
        let server = try await AnsweringServer(
            "HTTP/1.1 400 Bad Request\r\ncontent-length: \(said.utf8.count)\r\n\r\n\(said)")

        let answer = try await send(to: server, .database("home"), path: "/s3cr3t/", token: "pass", user: "ann")

        #expect(
            answer
                == .unwanted("it answered 400: unsupported path requested: …/write; Authorization: Basic …, …"))
        try await server.close()
    }

    @Test func longAnswer_isCut_andWithoutControlCharacters() async throws {
        let body = String(repeating: "\u{1B}[2J", count: 100_000)
        let server = try await AnsweringServer(
            "HTTP/1.1 400 Bad Request\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")

        guard case .unwanted(let cause) = try await send(to: server) else {
            Issue.record("it is something else")
            return
        }

        #expect(cause.count < 2000 && !cause.contains("\u{1B}"))
        try await server.close()
    }

    @Test func serverThatIsSilent_isGivenUp() async throws {
        let server = try await AnsweringServer(nil)

        #expect(try await send(to: server, limit: .milliseconds(300)) == .later(after: nil, "no answer within 300ms"))

        try await server.close()
    }

    @Test func tokenThatCannotBeRead_isSaid_andNothingIsSent() async throws {
        let server = try await AnsweringServer("HTTP/1.1 204 No Content\r\n\r\n")
        var target = InfluxTarget(
            address: try #require(NotificationAddress("http://127.0.0.1:\(server.port)")), place: .database("x"))
        target.tokenPath = "/nonexistent/token"

        guard case .refused(let cause, _) = await InfluxWriter(target).send([]) else {
            Issue.record("it was sent")
            return
        }

        #expect(cause.contains("/nonexistent/token"))
        #expect(server.requests.isEmpty)
        try await server.close()
    }
}
