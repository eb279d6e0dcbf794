import CloudAPI
import CloudServer
import Domain
import Foundation
import Hummingbird
import HummingbirdTesting
import MeterTestKit
import ServerKit
import Testing

@testable import Cloud

/// Watching a meter, on the router and on a socket (Docs/Relay.md).
@Suite(.timeLimit(.minutes(10)))
struct WatchTests {
    private let bench: CloudBench

    init() throws { bench = try CloudBench() }

    private static let path =
        "/v1/zones/home/meters/\(CloudBench.meter.replacing(":", with: "%3A"))/readings"

    private func batch(token: UInt64, session: Character = "1", volts: Double = 5) -> RelayRequest {
        RelayRequest(
            session: CloudBench.uuid(session), token: token, number: 1, missed: 0,
            readings: [RelayReadingBody(age: 7, time: 1_780_000_000_000, values: ["voltage_V": volts, "price": nil])])
    }

    /// Acquires the meter's lease. Returns its token and the session that has it.
    private func acquire(_ browser: Browser, by token: String) async throws -> LeaseBody {
        try await browser.post(CloudBench.lease("acquire"), token: token, CloudBench.acquire("1")).decode()
    }

    @Test func watcher_hearsWhoHasTheMeter_andItsReadings() async throws {
        let (holder, observer) = (try await bench.host("a"), try await bench.host("b"))
        try await bench.test(.router) { [bench] browser in
            let lease = try await acquire(browser, by: holder.token)
            var request = batch(token: lease.token)
            request.session = try #require(lease.session)
            let unwatched: RelayAnswer = try await browser.post(Self.path, token: holder.token, request).decode()
            async let watching = browser.request(.get, Self.path + "?all=true", token: observer.token)
            // It is counted a moment before it is told anything.
            let patience = Patience("it watches")
            var watched = try await browser.post(Self.path, token: holder.token, request)
            while (try? watched.decode(RelayAnswer.self).interest) == 0 {
                try await patience.turn()
                watched = try await browser.post(Self.path, token: holder.token, request)
            }
            #expect(bench.gate.watches == 1)
            let refused = try await browser.post(Self.path, token: observer.token, request)
            // Nothing may fail before this: the stream would go on.
            await bench.service.shutdown()
            let answer = try await watching

            #expect(unwatched.interest == 0)
            #expect(try watched.decode(RelayAnswer.self).interest == 30_000, "\(watched.text)")
            #expect(refused.status == 409)
            #expect(refused.error?.code == .leaseLost)
            #expect(answer.headers[.contentType] == "text/event-stream")
            let events = answer.text.split(separator: "\n\n")
            #expect(events.map { $0.prefix { $0 != "\n" } } == ["event: holder", "event: readings", "event: refused"])
            #expect(events[1].contains(#""values":{"price":null,"voltage_V":5}"#), "\(events[1])")
            #expect(!events[0].contains(request.session), "the session is the holder's own")
        }
        #expect(bench.gate.watches == 0)
    }

    /// Whoever closes the connection takes back a command that nobody has claimed.
    @Test func author_thatLeaves_takesTheCommandBack() async throws {
        let (holder, author) = (try await bench.host("a"), try await bench.host("b"))
        try await bench.test(.socket) { [bench] browser in
            let lease = try await acquire(browser, by: holder.token)
            let port = try #require(browser.client.port)
            let id = CloudBench.uuid("4")
            let path = "/v1/zones/home/meters/\(CloudBench.meter.replacing(":", with: "%3A"))/commands"
            let body = #"{"requestID":"\#(id)","token":\#(lease.token),"action":{"kind":"stopRecording"}}"#
            var events = try await bench.service.events(in: "home", by: holder.principal).makeAsyncIterator()
            do {
                let socket = try RawSocket(port: port)
                try socket.send(
                    "POST \(path) HTTP/1.1\r\nhost: x\r\nauthorization: Bearer \(author.token)\r\n"
                        + "content-length: \(body.utf8.count)\r\n\r\n\(body)")
                while let event = await events.next(), event.command == nil {}
            }
            let claim = RelayClaimRequest(session: try #require(lease.session), token: lease.token)
            // It is claimed by nobody, and over with the connection.
            let host = try #require(HostID(holder.id))
            try await eventually("it is taken back") { bench.service.commands.offered(to: host, in: "home").isEmpty }
            let refused = try await browser.post("\(path)/\(id)/claim", token: holder.token, claim)
            #expect(refused.status == 404, "\(refused.text)")
        }
    }

    @Test func observer_thatLeaves_isForgotten() async throws {
        let observer = try await bench.host("b")
        try await bench.test(.socket) { [bench] browser in
            let port = try #require(browser.client.port)
            do {
                let socket = try RawSocket(port: port)
                try socket.send(
                    "GET \(Self.path) HTTP/1.1\r\nhost: x\r\nauthorization: Bearer \(observer.token)\r\n\r\n")
                _ = try await socket.receive(until: "event: holder")
            }
            try await eventually("it is forgotten") { bench.gate.watches == 0 }
        }
    }

    @Test func oneToken_watchesSoManyMeters_andNoMore() async throws {
        var limits = RequestGate.Limits()
        limits.watchesPerCredential = 1
        let bench = try CloudBench(limits: limits)
        let host = try await bench.host("a")
        try await bench.test(.router) { browser in
            async let first = browser.request(.get, Self.path, token: host.token)
            try await eventually("it watches") { bench.gate.watches == 1 }
            let second = try await browser.request(.get, Self.path, token: host.token)
            let events = bench.gate.streams

            #expect(second.status == 429)
            #expect(second.error?.message == "this token has 1 watched meters open already; close one of them")
            #expect(events == 0)
            await bench.service.shutdown()
            _ = try await first
        }
    }

    @Test func batches_areCountedApart_soThatReadingsNeverStopARenewal() async throws {
        var limits = RequestGate.Limits()
        limits.relayPerCredential = Rate(perSecond: 1, burst: 2)
        let bench = try CloudBench(limits: limits)
        let holder = try await bench.host("a")
        try await bench.test(.router) { browser in
            let lease = try await acquire(browser, by: holder.token)
            var request = batch(token: lease.token)
            request.session = try #require(lease.session)
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await browser.post(Self.path, token: holder.token, request).status) }
            let other = try await browser.request(.get, "/v1/account", token: holder.token)

            #expect(statuses == [200, 200, 429])
            #expect(other.status == 200)
        }
    }

    @Test(arguments: ["?all=maybe", "?all="])
    func wrongQuery_is400_withTheValue(query: String) async throws {
        let host = try await bench.host("a")
        try await bench.test(.router) { browser in
            let answer = try await browser.request(.get, Self.path + query, token: host.token)

            #expect(answer.status == 400)
            #expect(answer.error?.message.hasPrefix("all cannot be") == true)
        }
    }
}
