import Domain
import Gateway
import GatewayAPI
package import Hummingbird
import Logging
import NIOCore
import ServerKit

/// Answers all requests to the web page: files, login and API. Rejects forbidden requests (`WebGuard`) and adds
/// security headers.
package struct WebResponder: HTTPResponder {
    package let files: WebFiles
    package let names: WebNames
    package let door: WebListener
    let proxies: WebProxies
    let logger: Logger
    package let api: RouterResponder<BasicRequestContext>
    /// Nil for Home Assistant and if `[web] profiler = false`; requests for profiles are then refused.
    package let profiler: Profiler?
    package let hasTLS: Bool
    var bodyPatience = TimeAmount.seconds(20)

    init(
        files: WebFiles, names: WebNames, door: WebListener, proxies: [IPNetwork],
        api: RouterResponder<BasicRequestContext>, profiler: Profiler? = nil, hasTLS: Bool = false, logger: Logger
    ) {
        self.files = files
        self.names = names
        self.door = door
        self.proxies = WebProxies(proxies, logger: logger)
        self.logger = logger
        self.api = api
        self.profiler = profiler
        self.hasTLS = hasTLS
    }

    package func respond(to request: Request, context: WebContext) async throws -> Response {
        var context = context
        context.forwarded = proxies.forwarded(request.head, from: context.channel.remoteAddress?.ipAddress)
        context.isHTTPS = context.forwarded.isHTTPS
        if hasTLS, await context.channel.isTLS { context.isHTTPS = true }
        var response: Response
        do {
            response = try await answer(to: request, context)
        } catch let error as GatewayError {
            response = try JSON.response(error.body, status: error.code.status)
            // Close the connection instead of waiting for the rest of the request's body.
            if error.code == .permission || error.code == .badRequest { close(&response, context) }
        } catch is NIOTooManyBytesError {
            let body = ErrorBody(
                code: .badRequest, message: "the request's body is longer than \(JSON.bodyBytesMax) bytes",
                next: "see Docs/meterd-openapi.yaml for what \(request.uri.path) takes")
            response = try JSON.response(body, status: .contentTooLarge)
            close(&response, context)
        }
        addHeaders(to: &response)
        if let viewer = ProfilerPath(request.uri.path)?.viewer, request.headers[.origin] == viewer {
            response.headers[.accessControlAllowOrigin] = viewer
        }
        return response
    }

    private func answer(to request: Request, _ context: WebContext) async throws -> Response {
        let file = files.file(at: request.uri.path)
        let isFile = file != nil && !WebGuard.isChange(request.head)
        let secret = ProfilerPath(request.uri.path)
        // Behind Home Assistant, `Host` is the name by which the browser reaches Home Assistant, so do not check it.
        // Only the Supervisor can connect to this listener.
        try WebGuard(names: door.isIngress ? nil : names).check(
            request.head, isFile: isFile, viewer: secret?.viewer, localAddress: context.localAddress)
        if hasTLS, !context.isHTTPS,
            let url = try WebGuard.redirect(of: request.head, isFile: isFile, from: context.connection?.client)
        {
            // Not permanent (308): TLS may be switched off again.
            var response = Response(status: .temporaryRedirect, headers: [.location: url])
            close(&response, context)
            return response
        }
        let isSession = request.uri.path == "/v1/session"
        let peer = isFile || isSession || secret != nil ? nil : try door.enter(request, context)
        var request = request
        try await collect(&request, context)
        if isFile, let file { return file.response(to: request) }
        if isSession { return try await session(request, context) }
        if let secret {
            guard request.method == .get else { return try .wrongMethod(of: request, allowed: ["GET"]) }
            guard let profiler else { throw Profiler.unknown }
            return try await profiler.response(to: request, at: secret).compressed(for: request)
        }
        let inner = BasicRequestContext(
            source: ApplicationRequestContextSource(channel: context.channel, logger: context.logger))
        try door.check(request, context, from: peer)
        let response = try await Asker.$current.withValue(
            Asker { [door, request] in door.mayDisturb(request, context) }
        ) {
            try await api.respond(to: request, context: inner).compressed(for: request)
        }
        if door.isIngress, WebGuard.isChange(request.head), response.status.code < 400 { log(request) }
        return response
    }

    /// Logs the Home Assistant user, because meterd has no user accounts.
    private func log(_ request: Request) {
        let user = request.head.headerFields.value(of: "x-remote-user-name")
        logger.notice(
            "change made through Home Assistant",
            metadata: [
                "user": "\(user.map { String($0.prefix(80)).visible } ?? "not named")", "method": "\(request.method)",
                "path": "\(String(request.uri.path.prefix(200)).visible)",
            ])
    }

    private func session(_ request: Request, _ context: WebContext) async throws -> Response {
        switch request.method {
        case .get:
            return try JSON.response(try door.session(request, context))
        case .post:
            let body: LoginRequest
            do {
                body = try await JSON.decode(LoginRequest.self, from: request)
            } catch is DecodingError {
                // Do not use the library's error message: it might contain part of the access token.
                throw GatewayError(
                    .badRequest, "a login is {\"token\": \"mgt_…\"}", next: "see Docs/meterd-openapi.yaml")
            }
            let cookie = try door.logIn(with: body.token, context)
            var response = try JSON.response(SessionBody(login: .done, may_change: true))
            response.setCookie(cookie)
            return response
        case .delete:
            var response = try JSON.response(SessionBody(login: .needed, may_change: false))
            do throws(GatewayError) {
                try await door.logOut(request, context)
            } catch {
                response = try JSON.response(error.body, status: error.code.status)
            }
            response.setCookie(WebListener.noCookie(context))
            return response
        default:
            return try .wrongMethod(of: request, allowed: ["DELETE", "GET", "POST"])
        }
    }

    /// Reads the whole body, which is small. Disconnects clients that need longer than `bodyPatience`.
    private func collect(_ request: inout Request, _ context: WebContext) async throws {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > JSON.bodyBytesMax {
            throw NIOTooManyBytesError(maxBytes: JSON.bodyBytesMax)
        }
        let channel = context.channel
        let cut = channel.eventLoop.scheduleTask(in: bodyPatience) { channel.close(promise: nil) }
        defer { cut.cancel() }
        _ = try await request.collectBody(upTo: JSON.bodyBytesMax)
    }

    /// Closes the connection soon after the response, even if the client still sends.
    private func close(_ response: inout Response, _ context: WebContext) {
        response.headers[.connection] = "close"
        let channel = context.channel
        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }

    /// Adds security headers. Only Home Assistant may frame the page, within its own origin.
    private func addHeaders(to response: inout Response) {
        response.headers[.contentSecurityPolicy] =
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors "
            + "\(door.isIngress ? "'self'" : "'none'"); object-src 'none'"
        response.headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let field = HTTPFields.Element.Name(name) { response.headers[field] = value }
        }
        if door.isIngress, let field = HTTPFields.Element.Name("X-Frame-Options") { response.headers[field] = nil }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    }
}
