import Domain
import Gateway
import GatewayAPI
import Hummingbird
import Logging
import NIOCore
import ServerKit

struct ErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    let routes: RouteMethods

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as GatewayError {
            return try JSON.response(error.body, status: error.code.status)
        } catch let error as DecodingError {
            let body = ErrorBody(
                code: .badRequest, message: "the request's JSON cannot be read: \(words(for: error))",
                next: "see Docs/meterd-openapi.yaml for what \(request.uri.path) takes")
            return try JSON.response(body, status: .badRequest)
        } catch let error as HTTPError {
            let allowed = error.status == .notFound ? routes.methods(of: request.uri.path) : []
            guard allowed.isEmpty else { return try .wrongMethod(of: request, allowed: allowed) }
            let body = ErrorBody(
                code: error.status == .notFound ? .notFound : .badRequest,
                message: "\(request.method) \(request.uri.path): \(error.body ?? error.status.reasonPhrase)",
                next: "see Docs/meterd-openapi.yaml for the routes")
            return try JSON.response(body, status: error.status)
        } catch is NIOTooManyBytesError {
            let body = ErrorBody(
                code: .badRequest, message: "the request's body is longer than \(JSON.bodyBytesMax) bytes",
                next: "see Docs/meterd-openapi.yaml for what \(request.uri.path) takes")
            return try JSON.response(body, status: .contentTooLarge)
        } catch let error where leavesNobodyToAnswer(error) {
            throw error
        } catch {
            context.logger.error(
                "request failed", metadata: ["path": "\(request.uri.path)", "cause": "\(words(for: error))"])
            let body = ErrorBody(
                code: .internalError, message: "meterd could not do it", next: "see the log of meterd for why")
            return try JSON.response(body, status: .internalServerError)
        }
    }
}

extension Response {
    /// Throws 405: the path exists but allows other methods.
    static func wrongMethod(of request: Request, allowed: [String]) throws -> Response {
        let methods = allowed.joined(separator: ", ")
        let body = ErrorBody(
            code: .notFound, message: "\(request.method) \(request.uri.path): it takes \(methods)",
            next: "see Docs/meterd-openapi.yaml for the routes")
        var response = try JSON.response(body, status: .methodNotAllowed)
        response.headers[.allow] = methods
        return response
    }
}

extension ErrorCode {
    var status: HTTPResponse.Status {
        switch self {
        case .badRequest: .badRequest
        case .noSuchMeter, .notFound: .notFound
        case .ambiguousMeter, .notConnected, .refused, .held: .conflict
        case .modelUnknown: .unprocessableContent
        case .timedOut: .gatewayTimeout
        case .permission: .forbidden
        case .notAuthenticated: .unauthorized
        case .tooManyRequests: .tooManyRequests
        case .shuttingDown: .serviceUnavailable
        case .store, .internalError: .internalServerError
        }
    }
}
