import GatewayAPI
import GatewayServer
import Hummingbird
import Testing

/// `GET /v1/broker`.
struct BrokerRoutesTests {
    private let bench = ServerBench()

    private func answer(_ status: BrokerStatus) async throws -> Answer {
        try await bench.request(.get, "/v1/broker", with: [BrokerRoutes { status }])
    }

    @Test func broker_isToldAsItIs() async throws {
        let answer = try await answer(.sample)

        #expect(answer.status == 200)
        #expect(try answer.decode(BrokerStatus.self) == .sample)
    }

    /// What is not known is there all the same.
    @Test func hostWithoutABroker_saysSo_withEveryKey() async throws {
        let answer = try await answer(BrokerStatus())

        #expect(try answer.decode(BrokerStatus.self).configured == false)
        #expect(try answer.keys() == Self.keys)
        #expect(try await self.answer(.sample).keys() == Self.keys)
        #expect(answer.text.contains(#""url":null"#) && answer.text.contains(#""since":null"#))
    }

    private static let keys: Set<String> = [
        "configured", "url", "connected", "since", "queued", "backlog", "published", "dropped", "refused",
        "refused_topics", "hears_requests", "links_opened", "error", "next",
    ]
}

extension BrokerStatus {
    /// One that was lost, with all there is to tell.
    static var sample: BrokerStatus {
        var status = BrokerStatus(url: "mqtts://broker.lan:8883")
        status.since = "2026-11-21T13:40:05.250Z"
        (status.queued, status.backlog, status.published) = (7, 5, 1200)
        (status.dropped, status.refused, status.refused_topics, status.links_opened) = (3, 2, 1, 4)
        (status.error, status.next) = ("the broker refuses us: Not authorized", "correct user and password")
        return status
    }
}
