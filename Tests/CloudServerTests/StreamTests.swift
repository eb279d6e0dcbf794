import CloudAPI
import CloudServer
import Domain
import Foundation
import Hummingbird
import HummingbirdTesting
import MeterTestKit
import NIOCore
import ServerKit
import Testing

@testable import Cloud

/// The stream of events, on the router and on a socket.
@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
    private let bench: CloudBench

    init() throws { bench = try CloudBench() }

    private static let path = "/v1/zones/home/events"

    private func untilStreams(_ count: Int, of bench: CloudBench) async throws {
        try await eventually("\(count) streams are open") { bench.service.listenerCount == count }
    }

    @Test(arguments: Medium.allCases)
    func stream_beginsWithAPing_andEndsAtTheShutdown(medium: Medium) async throws {
        let host = try await bench.host("b")
        try await bench.test(medium) { [bench] browser in
            async let answering = browser.request(.get, Self.path, token: host.token)
            try await untilStreams(1, of: bench)
            await bench.service.shutdown()
            let answer = try await answering

            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == "text/event-stream")
            #expect(answer.headers[.cacheControl] == "no-store")
            #expect(answer.text == "id: 1\nevent: ping\ndata: {\"serverTime\":1780000000000}\n\n")
        }
        #expect(bench.gate.streams == 0)
    }

    @Test func stream_isPinged_eachQuarterOfAMinute() async throws {
        let host = try await bench.host("a")
        let running = Task { [service = bench.service] in await service.run() }
        try await bench.test(.socket) { [bench] browser in
            let socket = try RawSocket(port: try #require(browser.client.port))
            try socket.send(Self.request(token: host.token))
            _ = try await socket.receive(until: "id: 1\nevent: ping")
            for number in 2...3 {
                for _ in 0..<CloudService.pingInterval.components.seconds {
                    try await eventually("the service sleeps") { bench.clock.hasSleepers }
                    bench.clock.advance(by: .seconds(1))
                }
                // Every event has a number: there was none between.
                _ = try await socket.receive(until: "id: \(number)\nevent: ping")
            }
            await bench.service.shutdown()
        }
        running.cancel()
        await running.value
    }

    @Test func revokedToken_endsItsStreams_andNoOthers() async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        try await bench.test(.router) { [bench] browser in
            async let first = browser.request(.get, Self.path, token: a.token)
            async let second = browser.request(.get, Self.path, token: b.token)
            try await untilStreams(2, of: bench)

            try await bench.service.revokeCredential(a.credential)

            #expect(try await first.status == 200)
            try await untilStreams(1, of: bench)
            await bench.service.shutdown()
            _ = try await second
        }
    }

    @Test func streamsOfOneToken_areFew() async throws {
        var limits = RequestGate.Limits()
        limits.streamsPerCredential = 1
        let bench = try CloudBench(limits: limits)
        let host = try await bench.host("a")
        try await bench.test(.router) { browser in
            async let first = browser.request(.get, Self.path, token: host.token)
            try await untilStreams(1, of: bench)

            let second = try await browser.request(.get, Self.path, token: host.token)

            #expect(second.status == 429)
            #expect(
                second.error?.message == "this token has 1 event streams open already; close one of them")
            await bench.service.shutdown()
            _ = try await first
        }
        #expect(bench.gate.streams == 0)
    }

    // MARK: On a socket

    @Test func stream_tellsWhatHappens_asItHappens() async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        try await bench.test(.socket) { [bench] browser in
            let socket = try RawSocket(port: try #require(browser.client.port))
            try socket.send(Self.request(token: b.token))
            _ = try await socket.receive(until: "serverTime")

            _ = try await bench.service.acquire(
                CloudBench.acquire("1"), meter: CloudBench.meter, in: "home", by: a.principal)

            let event = try await socket.receive(until: "\n\n")
            #expect(event.contains("id: 2\nevent: lease\ndata: {\"lease\":{"))
            #expect(event.contains(#""holderName":"host-a""#))
            #expect(!event.contains("session"))
            await bench.service.shutdown()
            // The end of the answer, after which the connection may serve again or close.
            _ = try await socket.receive(until: "0\r\n\r\n")
        }
    }

    @Test func listener_isForgotten_whenTheClientLeaves() async throws {
        let host = try await bench.host("a")
        try await bench.test(.socket) { [bench] browser in
            let port = try #require(browser.client.port)
            do {
                let socket = try RawSocket(port: port)
                try socket.send(Self.request(token: host.token))
                _ = try await socket.receive(until: "serverTime")
                #expect(bench.service.listenerCount == 1)
            }
            try await untilStreams(0, of: bench)
            try await eventually("the stream is over") { bench.gate.streams == 0 }
        }
    }

    @Test func readerThatTakesNothing_losesItsStream_andItsConnection() async throws {
        let (a, b) = (try await bench.host("a"), try await bench.host("b"))
        var application = bench.application
        application.stallPatience = .milliseconds(50)
        try await application.service().test(.live) { [bench] client in
            let socket = try RawSocket(port: try #require(client.port), receiveBuffer: 4096)
            try socket.send(Self.request(token: b.token))
            _ = try await socket.receive(until: "serverTime")

            // Until what the system buffers is full, and then what the cloud does.
            let lease = try await bench.service.acquire(
                CloudBench.acquire("1"), meter: CloudBench.meter, in: "home", by: a.principal)
            try await eventually("the stream is cut") {
                for _ in 0..<30 { bench.service.hub.tellLease(lease, session: nil, of: nil, in: "home") }
                return bench.service.listenerCount != 1
            }

            try await eventually("the stream is over") { bench.gate.streams == 0 }
            let taken = await socket.drain()
            #expect(taken > 0)
        }
    }

    private static func request(token: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
    }
}
