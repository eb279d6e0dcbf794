import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import MeterSimulator
import MeterTestKit
import ServerKit
import Synchronization
import Testing

/// Opening the page to the network, and the login.
@Suite(.timeLimit(.minutes(10)))
struct WebPageTests {
    private let web = WebBench()

    /// Enables the page on a free port of loopback, which stands for the network here.
    private func enable(_ page: WebPage) async throws -> (port: Int, token: String) {
        let status = try await page.enable(host: "127.0.0.1", port: 0)
        #expect(status.enabled)
        #expect(status.serving)
        return (try #require(IPAddress.hostAndPort(status.listen)).port, try #require(status.token))
    }

    @Test func onceEnabled_nothingIsToldWithoutALogin() async throws {
        try await web.serve { page, _ in
            let (port, token) = try await enable(page)

            for (method, path) in [("GET", "/v1/status"), ("GET", "/v1/live"), ("POST", ServerBench.meter("/connect"))]
            {
                let reply = try await WebBench.ask(port, method, path)
                #expect(reply.status == 401)
                #expect(reply.code == .notAuthenticated)
                #expect(!reply.text.contains(token))
            }
            #expect(try await WebBench.ask(port, "GET", "/").status == 200)
            #expect(
                try await WebBench.ask(port, "GET", "/v1/session").text == #"{"login":"needed","may_change":false}"#)
        }
    }

    @Test func sessionWithAnotherMethod_is405() async throws {
        try await web.serve { _, port in
            let reply = try await WebBench.ask(port, "PUT", "/v1/session")
            #expect(reply.status == 405)
            #expect(reply.headers["allow"] == "DELETE, GET, POST")
        }
    }

    @Test func token_logsIn_byACookieThatScriptsDoNotSee() async throws {
        try await web.serve { page, _ in
            let (port, token) = try await enable(page)

            let reply = try await WebBench.ask(port, "POST", "/v1/session", body: #"{"token":"\#(token)"}"#)
            #expect(reply.status == 200)
            let cookie = try #require(reply.cookies.first)
            for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"] { #expect(cookie.contains(word)) }
            #expect(!cookie.contains(token))
            let pair = String(cookie.prefix { $0 != ";" })
            #expect(try await WebBench.ask(port, "GET", "/v1/status", ["Cookie": pair]).status == 200)
            #expect(try await WebBench.ask(port, "GET", "/v1/status", ["Cookie": pair + "0"]).status == 401)
            // Whatever was logged meanwhile.
            #expect(!web.bench.log.entries.contains { "\($0)".contains(token) })
        }
    }

    @Test func token_isABearersToo() async throws {
        try await web.serve { page, _ in
            let (port, token) = try await enable(page)
            #expect(
                try await WebBench.ask(port, "GET", "/v1/status", ["Authorization": "Bearer \(token)"]).status == 200)
        }
    }

    @Test func guesses_areSlowedDown_andTheLoggedInAreNot() async throws {
        try await web.serve { page, _ in
            let (port, token) = try await enable(page)
            let good = try await WebBench.ask(port, "POST", "/v1/session", body: #"{"token":"\#(token)"}"#)
            let pair = String(try #require(good.cookies.first).prefix { $0 != ";" })

            var codes: [ErrorCode?] = []
            for number in 0..<12 {
                codes.append(
                    try await WebBench.ask(port, "POST", "/v1/session", body: #"{"token":"mgt_\#(number)"}"#).code)
            }
            #expect(
                codes == Array(repeating: .notAuthenticated, count: 10) + Array(repeating: .tooManyRequests, count: 2))
            #expect(try await WebBench.ask(port, "GET", "/v1/status", ["Cookie": pair]).status == 200)
            #expect(try await WebBench.ask(port, "GET", "/v1/status", ["Authorization": "Bearer mgt_x"]).status == 429)
            web.bench.loop.advance(by: .seconds(10))
            #expect(
                try await WebBench.ask(port, "POST", "/v1/session", body: #"{"token":"\#(token)"}"#).status == 200)
        }
    }

    @Test(arguments: ["", "{}", #"{"token":1}"#, #"{"token":"mgt_secret"#])
    func loginThatIsNone_isRefused_withoutRepeatingIt(body: String) async throws {
        try await web.serve { page, _ in
            let (port, _) = try await enable(page)
            let reply = try await WebBench.ask(port, "POST", "/v1/session", body: body)
            #expect(reply.status == 400)
            #expect(!reply.text.contains("secret"))
        }
    }

    @Test func newToken_endsEveryLogin() async throws {
        try await web.serve { page, _ in
            let (first, token) = try await enable(page)
            let login = try await WebBench.ask(first, "POST", "/v1/session", body: #"{"token":"\#(token)"}"#)
            let pair = String(try #require(login.cookies.first).prefix { $0 != ";" })

            let (second, newToken) = try await enable(page)

            #expect(newToken != token)
            #expect(try await WebBench.ask(second, "GET", "/v1/status", ["Cookie": pair]).status == 401)
            #expect(
                try await WebBench.ask(second, "GET", "/v1/status", ["Authorization": "Bearer \(token)"]).status == 401)
        }
    }

    @Test func disabled_thePageIsOpenAgain_toThisMachine() async throws {
        try await web.serve { page, _ in
            _ = try await enable(page)
            let status = try await page.disable()
            #expect(!status.enabled)
            let port = try #require(IPAddress.hostAndPort(status.listen)).port
            #expect(try await WebBench.ask(port, "GET", "/v1/status").status == 200)
        }
        #expect(web.openings.kept.withLock { $0 } == nil)
    }

    @Test func opening_isKeptOverARestart_withoutTheToken() async throws {
        let told = Mutex("")
        try await web.serve { page, _ in
            let token = try await enable(page).token
            told.withLock { $0 = token }
        }
        let kept = try #require(web.openings.kept.withLock { $0 })
        #expect(kept.credentials.tokenHash == BearerToken(text: told.withLock { $0 })?.hash)
        #expect("\(kept)".contains("redacted"))

        let again = WebPage(
            web.dependencies(), router: web.bench.routes.router(), logger: web.bench.log.logger)
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await again.run() }
            #expect(await again.settled().enabled)
            tasks.cancelAll()
        }
    }

    private final class Announced: Announcer {
        let services = Mutex<[OfferedService]>([])
        func announce(_ services: [OfferedService]) { self.services.withLock { $0 = services } }
        func state() async -> Announcement.State {
            services.withLock { $0.isEmpty ? .failed(.noAvahi) : .established(name: "meterd on pi") }
        }
    }

    @Test func page_isAnnounced_onlyWhileTheNetworkReachesIt() async throws {
        let announced = Announced()
        var dependencies = web.dependencies()
        dependencies.announcer = announced
        func types() -> [String] { announced.services.withLock { $0.map(\.type) } }
        let page = WebPage(dependencies, router: web.bench.routes.router(), logger: web.bench.log.logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await page.run() }
            #expect(await page.settled().announcement_error == "Avahi does not run here")
            #expect(types() == [])
            _ = try await page.enable(host: "127.0.0.1", port: 0)
            #expect(types() == [])
            let status = try await page.enable(host: "0.0.0.0", port: 0)
            #expect(status.announced == "meterd on pi")
            let port = try #require(announced.services.withLock { $0.first?.port })
            #expect(announced.services.withLock { $0 } == WebPage.offers(port: Int(port), tls: nil))
            #expect(types() == ["_http._tcp", "_meterd._tcp"] && port != 0)
            // With a certificate its fingerprint is told, for people to compare.
            let encrypted = WebPage.offers(port: 1, tls: TLSKeeper.Report(isOwn: true, fingerprint: "AB:CD"))
            #expect(encrypted.map(\.type) == ["_https._tcp", "_meterd._tcp"])
            #expect(encrypted[1].text.suffix(2) == ["https=1", "sha256=AB:CD"])
            _ = try await page.disable()
            #expect(types() == [])
            tasks.cancelAll()
        }
    }

    @Test func portThatIsTaken_isSaid_withWhatToDo() async throws {
        try await web.serve { page, port in
            let status = try await page.enable(host: "127.0.0.1", port: port)
            #expect(status.serving)
            var dependencies = web.dependencies()
            dependencies.port = port
            dependencies.pause = {}
            let other = WebPage(dependencies, router: web.bench.routes.router(), logger: web.bench.log.logger)
            web.openings.kept.withLock { $0 = nil }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await other.run() }
                try await eventually("the page cannot be served") { await other.status().error != nil }
                let status = await other.status()
                #expect(status.error == "nothing can be served on 127.0.0.1:\(port): Address already in use")
                #expect(status.next?.contains("[web] listen") == true)
                #expect(web.bench.log.entries(saying: "web server cannot listen: retrying").count == 1)
                tasks.cancelAll()
            }
        }
    }

    /// A login with its cookie.
    private func logIn(_ port: Int, _ token: String) async throws -> String {
        let reply = try await WebBench.ask(port, "POST", "/v1/session", body: #"{"token":"\#(token)"}"#)
        return String(try #require(reply.cookies.first).prefix { $0 != ";" })
    }

    @Test func loggingOut_endsTheLogin_andNoOther_alsoAfterARestart() async throws {
        try await web.serve { page, _ in
            let (port, token) = try await enable(page)
            let (ended, other) = (try await logIn(port, token), try await logIn(port, token))
            let reply = try await WebBench.ask(port, "DELETE", "/v1/session", ["Cookie": ended])
            #expect(reply.status == 200)
            #expect(try #require(reply.cookies.first).contains("Max-Age=0"))

            #expect(try await WebBench.ask(port, "GET", "/v1/status", ["Cookie": ended]).status == 401)
            #expect(try await WebBench.ask(port, "GET", "/v1/status", ["Cookie": other]).status == 200)
            let kept = try #require(web.openings.kept.withLock { $0 }).credentials
            let login = ended.dropFirst(WebListener.cookie.count + 1)
            #expect(!kept.admits(login: String(login), at: web.bench.loop.wallNow))
        }
    }

    @Test func loggingOut_cutsWhatTheLoginStillHears() async throws {
        try await web.serve { page, _ in
            let (port, token) = try await enable(page)
            let cookie = try await logIn(port, token)
            let stream = try RawSocket(port: port)
            try stream.send("GET /v1/live HTTP/1.1\r\nHost: localhost\r\nCookie: \(cookie)\r\n\r\n")
            _ = try await stream.receive(until: "event: all")
            #expect(try await WebBench.ask(port, "DELETE", "/v1/session", ["Cookie": cookie]).status == 200)
            _ = await stream.drain()
        }
    }

    @Test func loginsThatWereEnded_areForgottenInTime_andVeryManyEndThemAll() throws {
        var rng = SplitMix64(seed: 7)
        var credentials = WebCredentials(for: BearerToken(using: &rng), using: &rng)
        let start = WallTime(millisecondsSince1970: 1_780_000_000_000)
        let other = credentials.login(at: start, using: &rng)
        for _ in 0..<WebCredentials.endedMax {
            credentials.end(login: credentials.login(at: start, using: &rng), at: start, using: &rng)
        }
        #expect(credentials.ended.count == WebCredentials.endedMax)
        #expect(credentials.admits(login: other, at: start))
        var later = credentials
        let end = WallTime(millisecondsSince1970: start.millisecondsSince1970 + 31 * 86_400_000)
        later.end(login: later.login(at: end, using: &rng), at: end, using: &rng)
        #expect(later.ended.count == 1)
        credentials.end(login: credentials.login(at: start, using: &rng), at: start, using: &rng)
        #expect(credentials.ended.isEmpty)
        #expect(!credentials.admits(login: other, at: start))
    }

    @Test func login_ofAnEarlierVersion_goesOn() throws {
        let credentials = WebCredentials(tokenHash: [], key: Array(0..<32))
        // Made by version 1: when it ends, and the code.
        let login = "1782592000000.9bf9e15b66b41709ceea0103f6a09466d8b73f274df288d23065b5efe5c64c78"
        #expect(credentials.admits(login: login, at: WallTime(millisecondsSince1970: 1_780_000_000_000)))
    }

    @Test func login_ends_afterItsTime() throws {
        var rng = SplitMix64(seed: 42)
        let token = BearerToken(using: &rng)
        let credentials = WebCredentials(for: token, using: &rng)
        let start = WallTime(millisecondsSince1970: 1_780_000_000_000)
        let login = credentials.login(at: start, using: &rng)
        let end = WallTime(millisecondsSince1970: start.millisecondsSince1970 + 30 * 86_400_000)

        #expect(credentials.admits(login: login, at: start))
        #expect(credentials.admits(login: login, at: WallTime(millisecondsSince1970: end.millisecondsSince1970 - 1)))
        #expect(!credentials.admits(login: login, at: end))
        for forged in ["", ".", "9\(login)", "\(login)0", login.replacing(".", with: ""), "99999999999999.\(login)"] {
            #expect(!credentials.admits(login: forged, at: start))
        }
    }
}
