import Foundation
import FoundationNetworking
import Testing

/// `meterctl web` against the built daemon, and the page that it serves.
@Suite(
    .enabled(if: Program.path != nil && Program.daemonPath != nil, "the programs were not built: make build"),
    .timeLimit(.minutes(10)))
struct WebCommandTests {
    /// What `curl` would get.
    private func fetch(_ url: String, token: String? = nil) async throws -> (status: Int, text: String) {
        var request = URLRequest(url: try #require(URL(string: url)))
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return (try #require(response as? HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
    }

    /// The address that `web url` prints, once the page is served.
    private func url(of daemon: DemoDaemon) throws -> String {
        while true {
            let run = try daemon.run(["web", "url"])
            let line = run.output.split(separator: "\n").first.map(String.init) ?? ""
            // Before it listens, no port is known yet.
            if !line.hasSuffix(":0/"), !line.isEmpty { return line }
        }
    }

    @Test func page_isServedToThisMachine() async throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }

        let url = try url(of: daemon)
        #expect(url.hasPrefix("http://127.0.0.1:"))
        let page = try await fetch(url)
        #expect(page.status == 200)
        #expect(page.text.contains("<title>Meters</title>"))
        #expect(try await fetch("\(url)app.js").status == 200)
        #expect(try await fetch("\(url)v1/status").text.contains("02:00:00:00:25:0C"))
        // The token that joining takes is for the control socket alone.
        #expect(try await fetch("\(url)v1/web").status == 404)
        // Off, unless the configuration says otherwise.
        let refused = try daemon.run(["profiler", "demo UM25C"])
        #expect(refused.status == 1)
        #expect(refused.talk.contains("set [web] profiler = true in meterd.toml"))
    }

    @Test func enabled_itAsksForTheToken_untilDisabled() async throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        _ = try url(of: daemon)

        // Of loopback, which stands for the network here.
        let enabled = try daemon.run(["web", "enable", "--listen", "127.0.0.1:0", "--json"])
        #expect(enabled.status == 0)
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(enabled.output.utf8)) as? [String: Any])
        let token = try #require(answer["token"] as? String)
        #expect(answer["enabled"] as? Bool == true)
        let url = try url(of: daemon)
        #expect(try await fetch("\(url)v1/status").status == 401)
        #expect(try await fetch("\(url)v1/status", token: token).status == 200)
        // It is told once.
        #expect(!(try daemon.run(["web", "url", "--json"]).output.contains(token)))

        #expect(try daemon.run(["web", "disable"]).status == 0)
        #expect(try await fetch("\(try self.url(of: daemon))v1/status").status == 200)
    }

    @Test(arguments: ["pi:8642", "1.2.3:1", "1.2.3.4:x", "0.0.0.0:99999"])
    func addressThatIsNone_isSaid(address: String) throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }

        let run = try daemon.run(["web", "enable", "--listen", address])

        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.talk.hasPrefix("meterctl: error: \"\(address)\" is not an address to listen on\n"))
    }
}
