import Gateway
import GatewayAPI
import Hummingbird
package import MeterModel
package import ServerKit
import Synchronization

/// Who may look, and who may change something.
package enum WebAccess: Sendable {
    /// Only this machine reaches the page. Everybody on it may look; whether the user at the other end may change
    /// something, the closure says, so that the page is no way around the control socket's group.
    case local(mayChange: @Sendable (WebConnection) -> Bool)
    /// The network reaches it: nobody does anything without having logged in.
    case login(WebCredentials)
}

/// Checks logins, and slows down whoever guesses.
package final class WebDoor: Sendable {
    /// Ten guesses at once, then one in ten seconds: of 2²⁵⁶ tokens that finds none.
    package static let guessRate = Rate(perSecond: 0.1, burst: 10)
    package static let cookie = "meterd_login"

    private let access: WebAccess
    private let wallNow: @Sendable () -> WallTime
    private let now: @Sendable () -> MonotonicTime
    private let guesses: Mutex<TokenBuckets<String>>

    package init(
        access: WebAccess, now: @escaping @Sendable () -> MonotonicTime, wallNow: @escaping @Sendable () -> WallTime
    ) {
        self.access = access
        self.now = now
        self.wallNow = wallNow
        guesses = Mutex(TokenBuckets(rate: Self.guessRate, capacity: 10_000, at: now()))
    }

    /// Lets a request through, or says why not.
    func check(_ request: Request, _ context: WebContext) throws(GatewayError) {
        switch access {
        case .local:
            guard WebGuard.isChange(request.head), !mayChange(request, context) else { return }
            throw GatewayError(
                .permission, "this user may look and not change anything",
                next: "meterctl doctor says how to join the group of the control socket")
        case .login:
            guard try !isLoggedIn(request, context) else { return }
            throw GatewayError(
                .notAuthenticated, "\(request.uri.path) needs a login",
                next: "log in on the page, or send the token as Authorization: Bearer mgt_…")
        }
    }

    /// What the page needs to know of it: `GET /v1/session`.
    func session(_ request: Request, _ context: WebContext) throws(GatewayError) -> SessionBody {
        switch access {
        case .local:
            return SessionBody(login: .none, may_change: mayChange(request, context))
        case .login:
            let isIn = try isLoggedIn(request, context)
            return SessionBody(login: isIn ? .done : .needed, may_change: isIn)
        }
    }

    /// The login's cookie for a token: `POST /v1/session`.
    func logIn(with text: String, _ context: WebContext) throws(GatewayError) -> Cookie {
        guard case .login(let credentials) = access else {
            throw GatewayError(.refused, "this page needs no login", next: "reload it")
        }
        try takeGuess(context)
        guard let token = BearerToken(text: text), credentials.admits(token) else {
            throw GatewayError(
                .notAuthenticated, "this is not the token", next: "meterctl web enable makes a new one")
        }
        return Self.cookie(
            credentials.login(at: wallNow()), seconds: Int(WebCredentials.loginDuration.milliseconds / 1000))
    }

    /// What takes the login's cookie away.
    static var noCookie: Cookie { cookie("", seconds: 0) }

    /// Of no use to scripts, and sent by no other site's page.
    private static func cookie(_ value: String, seconds: Int) -> Cookie {
        Cookie(name: cookie, value: value, maxAge: seconds, path: "/", secure: false, httpOnly: true, sameSite: .strict)
    }

    private func mayChange(_ request: Request, _ context: WebContext) -> Bool {
        guard case .local(let mayChange) = access, let connection = context.connection else { return false }
        return mayChange(connection)
    }

    private func isLoggedIn(_ request: Request, _ context: WebContext) throws(GatewayError) -> Bool {
        guard case .login(let credentials) = access else { return true }
        if let login = request.cookies[Self.cookie]?.value, credentials.admits(login: login, at: wallNow()) {
            return true
        }
        guard let header = request.headers[.authorization] else { return false }
        guard let token = BearerToken(authorization: header), credentials.admits(token) else {
            try takeGuess(context)
            throw GatewayError(
                .notAuthenticated, "the Authorization header does not hold the token",
                next: "meterctl web enable makes a new one")
        }
        return true
    }

    private func takeGuess(_ context: WebContext) throws(GatewayError) {
        guard let wait = guesses.withLock({ $0.take(context.network, at: now()) }) else { return }
        throw GatewayError(
            .tooManyRequests, "too many logins from this address",
            next: "try again in \(wait.milliseconds / 1000 + 1) s")
    }
}
