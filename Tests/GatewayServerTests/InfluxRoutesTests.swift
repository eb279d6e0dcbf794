import GatewayAPI
import GatewayServer
import Hummingbird
import Testing

/// `GET /v1/influx`.
struct InfluxRoutesTests {
    private let bench = ServerBench()

    private func answer(_ status: InfluxStatus) async throws -> Answer {
        try await bench.request(.get, "/v1/influx", with: [InfluxRoutes { status }])
    }

    @Test func status_isToldAsItIs_withEveryKey() async throws {
        var status = InfluxStatus(url: "https://influx.lan:8086")
        (status.sent, status.rejected, status.behind, status.taken) = (7, 5, true, "2026-11-21T13:40:05.250Z")
        (status.error, status.next, status.rejection) = ("it answered 401", "correct the token", "too old")

        let answer = try await answer(status)

        #expect(try answer.decode(InfluxStatus.self) == status)
        #expect(try answer.keys() == Self.keys)
    }

    @Test func hostWithoutOne_saysSo_withEveryKey() async throws {
        let answer = try await answer(InfluxStatus())

        #expect(answer.status == 200)
        #expect(try answer.decode(InfluxStatus.self).configured == false)
        #expect(try answer.keys() == Self.keys)
    }

    private static let keys: Set<String> = [
        "configured", "url", "taken", "sent", "rejected", "behind", "error", "next", "rejection",
    ]
}
