import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AlertRoutesTests {
    private let notifier = ScriptedNotifier("phone", "lamp")
    private let bench: ServerBench

    init() { bench = ServerBench(notifier: notifier) }

    private func request(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil) async throws -> Answer {
        try await bench.request(
            method, uri, body, with: [AlertRoutes(directory: bench.directory, alerts: bench.alerts)])
    }

    private func add(_ condition: String, _ more: String = "") async throws -> Answer {
        try await request(
            .post, "/v1/alerts", #"{"meter":"02:00:00:00:25:0C","condition":"\#(condition)"\#(more)}"#)
    }

    @Test func alert_isAdded_shown_andRemoved() async throws {
        try await bench.connect()

        let added = try await add("current < 50mA for 2m", #","name":"charged","notify":["phone"]"#)
        let body = try added.decode(AlertBody.self)
        let list = try await request(.get, "/v1/alerts").decode(AlertsBody.self)

        #expect((body.id, body.state, body.name, body.count) == (1, "quiet", "charged", 0))
        #expect(body.condition == "current < 50mA for 2m")
        #expect(body.quantity == "current_A")
        #expect(added.text.contains(#""raised_at":null"#), "unknown is null")
        #expect(list.alerts.map(\.id) == [1])
        #expect(list.targets.map(\.name) == ["phone", "lamp"])
        #expect(try await request(.get, "/v1/alerts/charged").decode(AlertBody.self).id == 1)
        #expect(try await request(.delete, "/v1/alerts/1").decode(AlertBody.self).id == 1)
        #expect(try await request(.get, "/v1/alerts/1").status == 404)
    }

    @Test func readings_raiseIt_andTheStatusCounts() async throws {
        try await bench.connect()
        _ = try await add("voltage > 1V")

        bench.loop.advance(by: .seconds(3))

        let body = try await request(.get, "/v1/alerts/1").decode(AlertBody.self)
        #expect(body.state == "raised")
        #expect(body.value ?? 0 > 1)
        #expect(try await request(.get, "/v1/status").decode(GatewayStatus.self).alerts_raised == 1)
    }

    @Test func mistakes_areNamed() async throws {
        try await bench.connect()

        let unknown = try await add("curent < 5A")
        let nobody = try await add("current < 5A", #","notify":["fax"]"#)
        let number = try await add("current < 5A", #","name":"12""#)
        let stranger = try await request(.post, "/v1/alerts", #"{"meter":"nobody","condition":"stale"}"#)

        #expect(unknown.error?.code == .badRequest)
        #expect(unknown.error?.next == "did you mean current?")
        #expect(nobody.error?.message == "meterd.toml has no [notify.fax]")
        #expect(number.status == 400)
        #expect(stranger.error?.code == .noSuchMeter)
        #expect(try await request(.get, "/v1/alerts").decode(AlertsBody.self).alerts.isEmpty)
    }

    @Test func secondOfAName_isRefused() async throws {
        try await bench.connect()
        _ = try await add("current < 5A", #","name":"charged""#)

        #expect(try await add("current < 6A", #","name":"Charged""#).error?.code == .refused)
    }

    @Test func test_tellsEach_andSaysWhatCameOfIt() async throws {
        try await bench.connect()
        notifier.answer("lamp", .refused("it ended with 1"))
        _ = try await add("current < 5A", #","notify":["phone","lamp"]"#)

        let body = try await request(.post, "/v1/alerts/1/test").decode(AlertTestBody.self)

        #expect(body.results.map(\.target) == ["phone", "lamp"])
        #expect(body.results.map(\.delivered) == [true, false])
        #expect(body.results.map(\.error) == [nil, "it ended with 1"])
        #expect(notifier.sent.map(\.notice.event) == [.test, .test])
    }

    @Test func test_isRefused_whereNobodyIsTold() async throws {
        try await bench.connect()
        _ = try await add("current < 5A")

        #expect(try await request(.post, "/v1/alerts/1/test").error?.code == .refused)
    }

    @Test func forgottenMeter_takesItsRulesAlong() async throws {
        try await bench.connect()
        _ = try await add("current < 5A")

        #expect(try await request(.delete, ServerBench.meter()).status == 200)

        #expect(try await request(.get, "/v1/alerts").decode(AlertsBody.self).alerts.isEmpty)
    }
}
