import AsyncHTTPClient
import Domain
import FoundationEssentials
import GatewayAPI
import Glibc
import LinuxIO
import NIOCore
import NIOHTTP1
import ProgramKit

struct ControlClient: Sendable {
    let socketPath: String

    enum Method {
        case get, post, patch, delete

        fileprivate var http: HTTPMethod {
            switch self {
            case .get: .GET
            case .post: .POST
            case .patch: .PATCH
            case .delete: .DELETE
            }
        }
    }

    /// Maximum wait after the end of a stream, to find out whether meterd is stopping: it ends the streams first, and
    /// exits later.
    var endPatience = Duration.seconds(2)

    init(socketPath: String) { self.socketPath = socketPath }

    func call<Answer: Decodable>(
        _ method: Method, _ path: String, body: (some Encodable)? = Optional<String>.none,
        patience: Duration = .seconds(30)
    ) async throws -> Answer {
        try await withClient { http in
            let response = try await send(method, path, body: body, patience: patience, over: http)
            let buffer = try await response.body.collect(upTo: 16 << 20)
            return try JSONDecoder().decode(Answer.self, from: Data(buffer.readableBytesView))
        }
    }

    /// Returns the meters' names by id; empty if meterd does not answer.
    func meterNames() async -> [String: String] {
        let status: GatewayStatus? = try? await call(.get, "/v1/status")
        return [String: String](
            (status?.meters ?? []).compactMap { meter in meter.name.map { (meter.id, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Reads an endless stream of lines. Throws the error of `body`, or an error if the daemon ends the stream.
    func lines<Line: Decodable>(
        _ path: String, as type: Line.Type, _ body: (Line) throws -> Void
    ) async throws -> Never {
        try await read(.get, path, body: Optional<String>.none) { (line: Line) in
            try body(line)
            return true
        }
        throw try await loss("meterd ended the stream on \(socketPath)")
    }

    func lines<Line: Decodable, Result>(
        _ method: Method, _ path: String, body: (some Encodable)? = Optional<String>.none, as type: Line.Type,
        _ take: (Line) throws -> Result?
    ) async throws -> Result {
        var result: Result?
        try await read(method, path, body: body) { (line: Line) in
            result = try take(line)
            return result == nil
        }
        if let result { return result }
        throw try await loss("meterd ended the stream on \(socketPath)")
    }

    func allLines<Line: Decodable>(_ path: String) async throws -> [Line] {
        var lines: [Line] = []
        try await eachLine(path, as: Line.self) { lines.append($0) }
        return lines
    }

    func eachLine<Line: Decodable>(_ path: String, as type: Line.Type, _ body: (Line) throws -> Void) async throws {
        try await read(.get, path, body: Optional<String>.none) { (line: Line) in
            try body(line)
            return true
        }
    }

    struct Chunks {
        fileprivate let client: ControlClient
        fileprivate let body: HTTPClientResponse.Body

        func forEach(_ take: (ByteBuffer) throws -> Void) async throws {
            var chunks = body.makeAsyncIterator()
            while let chunk = try await client.nextChunk(&chunks) { try take(chunk) }
        }
    }

    func bytes<Result>(_ path: String, _ read: (Chunks) async throws -> Result) async throws -> Result {
        try await withClient { http in
            let response = try await send(
                .get, path, body: Optional<String>.none, patience: .seconds(365 * 86_400), over: http)
            return try await read(Chunks(client: self, body: response.body))
        }
    }

    /// - Parameter onProgress: called with the fraction sent so far, 0 to 1.
    func upload<Answer: Decodable>(
        _ path: String, _ file: UploadFile, onProgress: @escaping @Sendable (Double) -> Void
    ) async throws -> Answer {
        try await withClient { http in
            let body = HTTPClientRequest.Body.stream(file.pieces(onProgress), length: .known(file.length))
            // A large file takes minutes, and meterd itself ends a stalled upload.
            let response = try await send(.post, path, body, patience: .seconds(86_400), over: http)
            let buffer = try await response.body.collect(upTo: 16 << 20)
            return try JSONDecoder().decode(Answer.self, from: Data(buffer.readableBytesView))
        }
    }

    private func read<Line: Decodable>(
        _ method: Method, _ path: String, body: (some Encodable)?, _ take: (Line) throws -> Bool
    ) async throws {
        try await withClient { http in
            let response = try await send(method, path, body: body, patience: .seconds(365 * 86_400), over: http)
            var splitter = LineSplitter()
            var chunks = response.body.makeAsyncIterator()
            while let chunk = try await nextChunk(&chunks) {
                for line in try splitter.split([UInt8](chunk.readableBytesView)) {
                    guard try take(try JSONDecoder().decode(Line.self, from: Data(line))) else { return }
                }
            }
        }
    }

    private func nextChunk(_ chunks: inout HTTPClientResponse.Body.AsyncIterator) async throws -> ByteBuffer? {
        do {
            return try await chunks.next()
        } catch let error where !(error is CancellationError) && !Task.isCancelled {
            throw try await loss("the connection on \(socketPath) was lost: \(words(for: error))")
        }
    }

    /// Returns "not running" if the daemon has stopped, otherwise `message`.
    private func loss(_ message: String) async throws -> CommandFailure {
        let end = ContinuousClock.now + endPatience
        repeat {
            guard SocketProbe.look(at: socketPath) == .served else { return notRunning }
            try await Task.sleep(for: .milliseconds(50))
        } while ContinuousClock.now < end
        return CommandFailure(.error, message, next: "meterctl status shows whether meterd still runs; see its log")
    }

    /// Runs `body` with a separate client: the shared one closes a connection after 90 s without a byte, but a meter
    /// may send nothing for longer.
    private func withClient<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
        try await HTTPClient.withHTTPClient(configuration: HTTPClient.Configuration(), body)
    }

    private func send(
        _ method: Method, _ path: String, body: (some Encodable)?, patience: Duration, over http: HTTPClient
    ) async throws -> HTTPClientResponse {
        let bytes = try body.map { HTTPClientRequest.Body.bytes(ByteBuffer(bytes: try JSONEncoder().encode($0))) }
        return try await send(method, path, bytes, type: "application/json", patience: patience, over: http)
    }

    private func send(
        _ method: Method, _ path: String, _ body: HTTPClientRequest.Body?, type: String = "application/octet-stream",
        patience: Duration, over http: HTTPClient
    ) async throws -> HTTPClientResponse {
        try checkSocket()
        var request = HTTPClientRequest(url: "http+unix://\(socketPath.percentEncoded)\(path)")
        request.method = method.http
        if let body {
            request.headers.add(name: "content-type", value: type)
            request.body = body
        }
        let response: HTTPClientResponse
        do {
            let deadline = NIODeadline.now() + .milliseconds(patience.milliseconds)
            response = try await http.execute(request, deadline: deadline)
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw CommandFailure(
                .timedOut, "meterd did not answer in time on \(socketPath)",
                next: "see its log: it may be overloaded")
        } catch is HTTPClientError {
            throw try await loss("meterd closed the connection on \(socketPath)")
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw notRunning
        }
        guard response.status.code >= 400 else { return response }
        throw await failure(of: response)
    }

    private func failure(of response: HTTPClientResponse) async -> CommandFailure {
        guard let buffer = try? await response.body.collect(upTo: 1 << 20),
            let body = try? JSONDecoder().decode(ErrorBody.self, from: Data(buffer.readableBytesView))
        else {
            return CommandFailure(
                .error, "meterd answered \(response.status.code)", next: "use meterctl and meterd of one version")
        }
        return CommandFailure(Self.status(for: body.code), body.message, next: body.next)
    }

    /// Throws the reason if the socket is unusable, which the HTTP client would hide.
    private func checkSocket() throws {
        guard access(socketPath, F_OK) == 0 else {
            if errno == EACCES { throw noPermission }
            throw notRunning
        }
        guard access(socketPath, W_OK) == 0 else { throw noPermission }
        // A killed meterd leaves its socket file, with which the HTTP client would retry until its deadline.
        guard SocketProbe.look(at: socketPath) == .served else { throw notRunning }
    }

    private var notRunning: CommandFailure {
        CommandFailure(
            .daemonNotRunning, "no meterd answers on \(socketPath)",
            next: "start it: meterd, or without a meter: meterd --demo")
    }

    private var noPermission: CommandFailure {
        CommandFailure(
            .noPermission, "no permission to use \(socketPath)",
            next: "join its group and log in again: sudo adduser $USER meterd")
    }

    static func status(for code: ErrorCode) -> ExitStatus {
        switch code {
        case .noSuchMeter, .ambiguousMeter: .noSuchMeter
        case .timedOut: .timedOut
        case .held: .heldElsewhere
        case .permission, .notAuthenticated: .noPermission
        case .badRequest: .usage
        case .modelUnknown, .notConnected, .refused, .store, .shuttingDown, .notFound, .tooManyRequests, .internalError:
            .error
        }
    }
}
