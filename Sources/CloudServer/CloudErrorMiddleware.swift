import Cloud
package import CloudAPI
import Domain
import FoundationEssentials
package import Hummingbird
import Logging
import NIOCore
import ServerKit

/// Turns every error into a `CloudErrorBody` with a suitable status, so that hosts need not parse messages.
struct CloudErrorMiddleware: RouterMiddleware {
    typealias Context = CloudRequestContext

    /// Receives the failures of requests that the store did not carry out.
    var health: StoreHealth?

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let failure as CloudFailure {
            // `health` itself causes the failures of the health route, so do not report them to it.
            if failure.code == .serviceUnavailable, request.uri.path != CloudRoute.health.path {
                await health?.failed(failure.message)
            }
            return try Self.response(failure.content, status: CloudErrorStatus.of(failure.code))
        } catch let error as DecodingError {
            let message = "the request's JSON cannot be read: \(words(for: error))"
            return try Self.response(.init(code: .badRequest, message: message), status: .badRequest)
        } catch is NIOTooManyBytesError {
            let message = "the request's body is longer than \(JSON.bodyBytesMax) bytes; split it"
            return try Self.response(.init(code: .limitExceeded, message: message), status: .contentTooLarge)
        } catch let error as HTTPError {
            return try Self.response(for: error, request: request)
        } catch let error where leavesNobodyToAnswer(error) {
            throw error
        } catch {
            context.logger.error(
                "request failed", metadata: ["path": "\(request.uri.path)", "cause": "\(words(for: error))"])
            let message = "the cloud could not do it; its log says why"
            return try Self.response(.init(code: .internalError, message: message), status: .internalServerError)
        }
    }

    private static func response(for error: HTTPError, request: Request) throws -> Response {
        let allowed = CloudRoute.methods(of: request.uri.path)
        guard error.status == .notFound, !allowed.isEmpty else {
            let code: CloudErrorCode = error.status == .notFound ? .notFound : .badRequest
            let reason = error.body ?? error.status.reasonPhrase
            return try response(
                .init(code: code, message: "\(request.method) \(request.uri.path): \(reason)"), status: error.status)
        }
        let methods = Set(allowed.map(\.rawValue)).sorted().joined(separator: ", ")
        let message = "\(request.uri.path) does not take \(request.method); it takes \(methods)"
        var response = try response(.init(code: .notFound, message: message), status: .methodNotAllowed)
        response.headers[.allow] = methods
        return response
    }

    static func response(_ content: CloudErrorBody.Content, status: HTTPResponse.Status) throws -> Response {
        var response = try JSON.response(CloudErrorBody(content), status: status)
        if let seconds = content.retryAfter {
            response.headers[.retryAfter] = "\(Int(min(seconds, 86_400).rounded(.up)))"
        }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

package enum CloudErrorStatus {
    package static func of(_ code: CloudErrorCode) -> HTTPResponse.Status {
        switch code {
        case .notAuthenticated: .unauthorized
        case .permissionDenied, .readOnly: .forbidden
        case .zoneNotFound, .notFound: .notFound
        case .changeTokenExpired, .timelineLost, .anotherZone: .gone
        case .limitExceeded: .contentTooLarge
        case .rateLimited: .tooManyRequests
        case .serviceUnavailable: .serviceUnavailable
        case .badRequest: .badRequest
        case .clockSkew: .unprocessableContent
        case .quotaExceeded: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        case .leaseHeld, .leaseLost, .duplicateHost: .conflict
        case .internalError: .internalServerError
        }
    }
}
