package import Domain
import Gateway
import GatewayAPI
import Hummingbird
import ServerKit
import Synchronization

package enum WebAccess: Sendable {
    /// Only this machine can reach the page; all its users may view it. Changes require the right to use the control
    /// socket, so that the page does not bypass that socket's group.
    case local(LocalUsers)
    /// Other machines can reach the page: everything requires a login.
    case login(WebLogins)
    /// Only Home Assistant, which has logged the person in, can reach the page.
    case ingress(mayChange: Bool)
}

package final class WebListener: Sendable {
    package static let cookie = "meterd_login"

    private let access: WebAccess
    let isIngress: Bool
    private let wallNow: @Sendable () -> WallTime
    private let now: @Sendable () -> MonotonicTime
    private let guesses: Mutex<LoginGuesses>

    package init(
        access: WebAccess, now: @escaping @Sendable () -> MonotonicTime, wallNow: @escaping @Sendable () -> WallTime
    ) {
        self.access = access
        isIngress = if case .ingress = access { true } else { false }
        self.now = now
        self.wallNow = wallNow
        guesses = Mutex(LoginGuesses(at: now()))
    }

    /// Identifies the client of a change right after the request's head, because another client could take its place
    /// while the body arrives.
    ///
    /// - Returns: nil if the request changes nothing, or if the right to make changes does not depend on the local
    ///   user.
    func enter(_ request: Request, _ context: WebContext) throws(GatewayError) -> WebPeer? {
        guard WebGuard.isChange(request.head) else { return nil }
        switch access {
        case .local: return try admitted(request, context)
        case .ingress(mayChange: false): throw Self.readOnly
        case .login, .ingress: return nil
        }
    }

    /// - Parameter peer: the result of `enter`. A client that has disconnected cannot change anything.
    func check(_ request: Request, _ context: WebContext, from peer: WebPeer?) throws(GatewayError) {
        switch access {
        case .local:
            guard WebGuard.isChange(request.head) else { return }
            guard let peer, try admitted(request, context) == peer else { throw Self.onlooker }
        case .login:
            guard try !isLoggedIn(request, context) else { return }
            throw GatewayError(
                .notAuthenticated, "\(request.uri.path) needs a login",
                next: "log in on the page, or send the token as Authorization: Bearer mgt_…")
        case .ingress: return
        }
    }

    private static let onlooker = GatewayError(
        .permission, "this user may look and not change anything",
        next: "meterctl doctor says how to join the group of the control socket")
    private static let readOnly = GatewayError(
        .permission, "this page is read-only inside Home Assistant",
        next: "[web] ingress-changes = true in meterd.toml lets every user of Home Assistant make changes")
    private static let passedOn = GatewayError(
        .permission, "a page without a login takes no change through a proxy",
        next: "meterctl web enable --listen 127.0.0.1:8642 gives it a login")

    private func admitted(_ request: Request, _ context: WebContext) throws(GatewayError) -> WebPeer {
        guard !WebProxies.isPassedOn(request.head) else { throw Self.passedOn }
        guard case .local(let users) = access, let connection = context.connection,
            let peer = users.peer(connection), users.mayChange(peer.user)
        else { throw Self.onlooker }
        return peer
    }

    /// Answers `GET /v1/session`.
    func session(_ request: Request, _ context: WebContext) throws(GatewayError) -> SessionBody {
        switch access {
        case .local:
            return SessionBody(login: .none, may_change: mayDisturb(request, context))
        case .login:
            let isIn = try isLoggedIn(request, context)
            return SessionBody(login: isIn ? .done : .needed, may_change: isIn)
        case .ingress(let mayChange):
            return SessionBody(
                login: .none, may_change: mayChange,
                reason: mayChange ? nil : "\(Self.readOnly.message): \(Self.readOnly.next)")
        }
    }

    /// Answers `POST /v1/session` with the login cookie for an access token.
    func logIn(with text: String, _ context: WebContext) throws(GatewayError) -> Cookie {
        guard case .login(let logins) = access else {
            throw GatewayError(.refused, "this page needs no login", next: "reload it")
        }
        if let wait = guesses.withLock({ $0.wait(of: context.address, at: now()) }) {
            throw Self.tooMany(wait)
        }
        guard let token = BearerToken(text: text), logins.admits(token) else {
            try takeGuess(context)
            throw GatewayError(
                .notAuthenticated, "this is not the token", next: "meterctl web enable makes a new one")
        }
        return Self.cookie(
            logins.begin(at: wallNow()), seconds: Int(WebCredentials.loginDuration.milliseconds / 1000), context)
    }

    /// Answers `DELETE /v1/session`: ends the login in the cookie, if any.
    func logOut(_ request: Request, _ context: WebContext) async throws(GatewayError) {
        guard case .login(let logins) = access, let login = request.cookies[Self.cookie]?.value else { return }
        try await logins.end(login, at: wallNow(), from: context.channel)
    }

    static func noCookie(_ context: WebContext) -> Cookie { cookie("", seconds: 0, context) }

    /// Returns a cookie that scripts cannot read and other sites' pages do not send. One created over https is never
    /// sent over plain HTTP.
    private static func cookie(_ value: String, seconds: Int, _ context: WebContext) -> Cookie {
        Cookie(
            name: cookie, value: value, maxAge: seconds, path: context.forwarded.cookiePath, secure: context.isHTTPS,
            httpOnly: true,
            sameSite: .strict)
    }

    /// Returns `Asker.mayDisturb` for an admitted client. Without logins, only clients with the right to make changes
    /// get true.
    func mayDisturb(_ request: Request, _ context: WebContext) -> Bool {
        switch access {
        case .local: (try? admitted(request, context)) != nil
        case .login: true
        case .ingress(let mayChange): mayChange
        }
    }

    private func isLoggedIn(_ request: Request, _ context: WebContext) throws(GatewayError) -> Bool {
        guard case .login(let logins) = access else { return true }
        if let login = request.cookies[Self.cookie]?.value,
            logins.admits(login: login, at: wallNow(), on: context.channel)
        {
            return true
        }
        guard let header = request.headers[.authorization] else { return false }
        guard let token = BearerToken(authorization: header), logins.admits(token) else {
            try takeGuess(context)
            throw GatewayError(
                .notAuthenticated, "the Authorization header does not hold the token",
                next: "meterctl web enable makes a new one")
        }
        return true
    }

    private func takeGuess(_ context: WebContext) throws(GatewayError) {
        let now = now()
        let wait = guesses.withLock { $0.take(context.address, in: context.network, at: now) }
        if let wait { throw Self.tooMany(wait) }
    }

    private static func tooMany(_ wait: Duration) -> GatewayError {
        GatewayError(
            .tooManyRequests, "too many logins from this address",
            next: "try again in \(wait.milliseconds / 1000 + 1) s")
    }
}
