package import AlertCore
import AsyncHTTPClient
import Gateway
import Glibc
import LinuxIO
import MeterModel
import NIOCore
import NIOHTTP1
import NIOPosix

/// Tells people and programs of alerts: by HTTP, or by running a program.
///
/// Each attempt has a client of its own: there are few, and nothing is left open between them. An answer's body is not
/// read, and an answer that sends elsewhere is not followed, so that a token goes to the configured address alone.
package struct Notifier: AlertNotifier {
    private let byName: [String: NotificationTarget]
    /// This host's name, which notices carry.
    private let host: String
    private let isRoot: Bool

    /// - Parameter isRoot: whether this program runs as root, which starts no program for anybody.
    package init(_ targets: [NotificationTarget], host: String, isRoot: Bool = geteuid() == 0) {
        byName = Dictionary(targets.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.host = host
        self.isRoot = isRoot
    }

    package var targets: [(name: String, kind: String)] {
        byName.values.sorted { $0.name < $1.name }.map { ($0.name, $0.kind) }
    }

    package func send(_ notice: AlertNotice, number: Int64, to target: String) async -> AlertDelivery {
        guard let target = byName[target] else { return .refused("this host has no [notify.\(target)]") }
        if case .program(let command) = target.way { return await run(command, target.limit, notice, number) }
        let request: NotificationRequest?
        do {
            request = try self.request(for: notice, number, target)
        } catch let problem as SecretToken.Problem {
            // Somebody may correct the file.
            return .failed(problem.message)
        } catch {
            return .refused(words(for: error))
        }
        return await post(request, within: target.limit)
    }

    private func request(
        for notice: AlertNotice, _ number: Int64, _ target: NotificationTarget
    ) throws -> NotificationRequest? {
        let token = try target.tokenPath.map { try SecretToken(file: $0).text }
        switch target.way {
        case .webhook(let address):
            return try NotificationRequest(notice, number: number, webhook: address, host: host, token: token)
        case .ntfy(let address): return NotificationRequest(notice, ntfy: address, token: token)
        case .gotify(let address): return try NotificationRequest(notice, gotify: address, token: token)
        case .program: return nil
        }
    }

    // MARK: HTTP

    private func post(_ request: NotificationRequest?, within limit: Duration) async -> AlertDelivery {
        guard let request else { return .refused("it is not an address") }
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .nanoseconds(limit.nanoseconds)
        configuration.connectionPool.retryConnectionEstablishment = false
        var message = HTTPClientRequest(url: request.url)
        message.method = .POST
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
            message.headers.add(name: name, value: value)
        }
        message.headers.add(name: "user-agent", value: "meterd")
        message.body = .bytes(ByteBuffer(string: request.body))
        do {
            let deadline = NIODeadline.now() + .nanoseconds(limit.nanoseconds)
            let status = try await HTTPClient.withHTTPClient(configuration: configuration) { [message] http in
                try await http.execute(message, deadline: deadline).status
            }
            return Self.verdict(on: status)
        } catch {
            return .failed(Self.reason(of: error, limit))
        }
    }

    /// What an answer means: a server in trouble may be well later, a wrong address stays wrong.
    static func verdict(on status: HTTPResponseStatus) -> AlertDelivery {
        switch status.code {
        case 200..<300: .delivered
        case 408, 425, 429, 500...: .failed("it answered \(status.code)")
        case 300..<400: .refused("it answered \(status.code), another address: correct the url")
        case 401, 403: .refused("it answered \(status.code): correct the token")
        default: .refused("it answered \(status.code)")
        }
    }

    /// Without the address, which may hold a secret.
    private static func reason(of error: any Error, _ limit: Duration) -> String {
        switch error {
        case let error as HTTPClientError where [.deadlineExceeded, .connectTimeout, .readTimeout].contains(error):
            "no answer within \(limit.shortText)"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closed the connection"
        case let error as HTTPClientError: error.shortDescription
        case is CancellationError: "meterd is stopping"
        case let error as IOError: "no connection: \(Errno(error.errnoCode).words)"
        case let error as NIOConnectionError:
            "no connection\(error.dnsAError != nil || error.dnsAAAAError != nil ? ": its host is not found" : "")"
        default: "no connection: \(words(for: error).prefix(200))"
        }
    }

    // MARK: Programs

    private func run(
        _ command: [String], _ limit: Duration, _ notice: AlertNotice, _ number: Int64
    ) async -> AlertDelivery {
        guard !isRoot else { return .refused("meterd runs as root, and starts no program then") }
        var environment = notice.environment(number: number, host: host)
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        environment["LANG"] = "C.UTF-8"
        let outcome = await BoundedProgram.run(command, environment: environment, limit: limit)
        let said =
            String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first
            .map { ": \($0.prefix(200).visible)" } ?? ""
        return switch outcome.end {
        case .exited(0): .delivered
        case .exited(let code): .failed("it ended with \(code)\(said)")
        case .killedBySignal(let signal): .failed("signal \(signal) ended it\(said)")
        case .timedOut: .failed("it was killed after \(limit.shortText)\(said)")
        case .cancelled: .failed("meterd is stopping")
        case .notStarted(let error): .refused("it cannot be started: \(error.words)")
        }
    }
}
