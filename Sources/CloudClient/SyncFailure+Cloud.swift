import AsyncHTTPClient
package import CloudAPI
package import Domain
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PinnedHTTP

extension SyncFailure {
    package init(_ error: CloudErrorBody.Content) {
        let kind: Kind =
            switch error.code {
            case .notAuthenticated: .notAuthenticated
            case .permissionDenied, .duplicateHost: .permissionDenied
            case .readOnly: .readOnly
            case .zoneNotFound: .zoneNotFound
            case .changeTokenExpired: .changeTokenExpired(epoch: error.epoch ?? "", zoneID: error.zoneID)
            case .timelineLost: .timelineLost(epoch: error.epoch ?? "", zoneID: error.zoneID)
            case .anotherZone: .anotherZone(epoch: error.epoch ?? "", zoneID: error.zoneID)
            case .limitExceeded: .limitExceeded
            case .quotaExceeded: .quotaExceeded
            case .rateLimited: .rateLimited
            case .serviceUnavailable, .internalError: .serviceUnavailable
            case .clockSkew: .clockSkew
            case .badRequest: .badRequest
            case .leaseHeld: .leaseHeld
            case .leaseLost, .notFound: .other
            }
        self.init(kind, error.message, retryAfter: error.retryAfter.flatMap { Self.wait(seconds: $0) })
    }

    /// Creates the failure for a response without an error body, from a proxy or another program.
    init(status: HTTPResponseStatus, path: String) {
        let kind: Kind =
            switch status.code {
            case 401: .notAuthenticated
            case 403: .permissionDenied
            case 413: .limitExceeded
            case 429: .rateLimited
            case 507: .quotaExceeded
            case 500...: .serviceUnavailable
            default: .other
            }
        self.init(kind, "\(path): the answer was \(status.code) \(status.reasonPhrase), and not from a metercloud")
    }

    init(_ wrong: WrongCertificate, at address: String) {
        let found = wrong.found.map { "\($0)" } ?? "none"
        self.init(
            .wrongCertificate,
            "\(address) is not the cloud that was joined: its pin is \(found). If its certificate was made anew, join "
                + "again with that pin; if not, somebody stands between")
    }

    /// Limits a retry time to one day. Nil for a negative or non-finite number.
    private static func wait(seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0 else { return nil }
        return .milliseconds(Int64((min(seconds, 86_400) * 1000).rounded()))
    }

    static func words(for error: any Error) -> String {
        switch error {
        case let client as HTTPClientError
        where [.deadlineExceeded, .connectTimeout, .readTimeout].contains(client): "no answer in time"
        case let client as HTTPClientError where client == .remoteConnectionClosed: "it closed the connection"
        case is CancellationError: "the call was cancelled"
        case let tls as NIOSSLError: "its certificate is not trusted (\(tls)); join with --pin to know it by its key"
        // NIOSSL throws this error while it loads the system's authorities, before it sends anything.
        case BoringSSLError.unknownError:
            "this system has no list of certificate authorities; install ca-certificates, or join with --pin"
        case let connection as NIOConnectionError:
            connection.connectionErrors.first.map { words(for: $0.error) } ?? "no address of \(connection.host) answers"
        case let system as IOError: String(cString: strerror(system.errnoCode))
        default: "\(error)"
        }
    }
}
