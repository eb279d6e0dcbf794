package import Domain
import Gateway
import Glibc
import LinuxIO
import NIOCore

package struct Notifier: AlertNotifier {
    private let byName: [String: NotificationTarget]
    private let host: String
    private let isRoot: Bool

    /// - Parameter isRoot: whether this program runs as root; if so, it starts no other program.
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
            // Report a temporary failure: the user may correct the token file.
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
        let outgoing = OutgoingRequest(
            url: request.url, headers: request.headers, body: ByteBuffer(string: request.body))
        return switch await outgoing.send(within: limit) {
        case .answered(let status, _, _): Self.verdict(on: status)
        case .failed(let reason): .failed(reason)
        }
    }

    /// Maps an HTTP status to a delivery result: server errors may be temporary, a wrong URL is permanent.
    static func verdict(on status: UInt) -> AlertDelivery {
        switch status {
        case 200..<300: .delivered
        case 408, 425, 429, 500...: .failed("it answered \(status)")
        case 300..<400: .refused("it answered \(status), another address: correct the url")
        case 401, 403: .refused("it answered \(status): correct the token")
        default: .refused("it answered \(status)")
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
