import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MarkRoutesTests {
    private let bench = ServerBench()

    private func request(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil) async throws -> Answer {
        try await bench.request(method, uri, body, with: [MarkRoutes(directory: bench.directory, marks: bench.marks)])
    }

    private func mark(_ body: String) async throws -> MarkBody {
        try await request(.post, ServerBench.meter("/marks"), body).decode()
    }

    private func names(_ query: String = "") async throws -> [String] {
        try await request(.get, ServerBench.meter("/marks\(query)")).decode(MarksBody.self).marks.map(\.name)
    }

    @Test func moment_isMarkedNow_andHasAllKeys() async throws {
        try await bench.plugIn()
        let answer = try await request(.post, ServerBench.meter("/marks"), #"{"name":" screen\ton "}"#)

        let body = try answer.decode(MarkBody.self)
        #expect(body.name == "screen on" && body.from == bench.loop.wallNow.description && body.to == body.from)
        #expect(!body.is_local && body.meter == "\(ServerBench.id)")
        #expect(try answer.keys() == ["id", "meter", "name", "from", "to", "is_local", "host", "host_id"])
    }

    @Test func span_isOpen_untilItIsEnded_once() async throws {
        try await bench.plugIn()
        let open = try await mark(#"{"name":"boot","open":true}"#)
        #expect(open.to == nil)
        bench.loop.advance(by: .seconds(3))

        let ended = try await request(.patch, "/v1/marks/\(open.id)", #"{"end":"now","name":"boot 1"}"#)
            .decode(MarkBody.self)

        #expect(ended.to == bench.loop.wallNow.description && ended.from == open.from && ended.name == "boot 1")
        #expect(try await request(.patch, "/v1/marks/\(open.id)", #"{"end":"now"}"#).status == 409)
    }

    @Test func marks_areListedInOrder_thoseThatTouchTheTime() async throws {
        try await bench.plugIn()
        let now = bench.loop.wallNow
        func at(_ seconds: Int) -> String { (now + .seconds(-seconds)).description }
        for (name, from, to) in [("b", 50, 50), ("a", 90, 60), ("c", 10, 5)] {
            _ = try await mark(#"{"name":"\#(name)","at":"\#(at(from))","end":"\#(at(to))","local":true}"#)
        }

        #expect(try await names() == ["a", "b", "c"])
        #expect(try await names("?from=\(at(70))&to=\(at(50))") == ["a"])
        #expect(try await names("?from=\(at(59))") == ["b", "c"])
        #expect(try await names("?to=\(at(90))").isEmpty)
    }

    @Test(arguments: [
        ("{}", 400), (#"{"name":""}"#, 400), (#"{"name":"a","at":"noon"}"#, 400),
        (#"{"name":"a","open":true,"end":"2026-01-01T00:00:00Z"}"#, 400),
    ])
    func nonsense_isRefused(body: String, status: Int) async throws {
        try await bench.plugIn()
        #expect(try await request(.post, ServerBench.meter("/marks"), body).status == status)
        #expect(try await names().isEmpty)
    }

    @Test func deletedMark_isGone_andAnUnknownOneIsNotFound() async throws {
        try await bench.plugIn()
        let one = try await mark(#"{"name":"a"}"#)

        #expect(try await request(.delete, "/v1/marks/\(one.id)").status == 200)

        #expect(try await names().isEmpty)
        #expect(try await request(.delete, "/v1/marks/\(one.id)").status == 404)
    }

    /// Shared marks stay, as recordings do; local ones go with this host's readings.
    @Test func forgottenMeter_losesItsLocalMarks_withItsReadings() async throws {
        try await bench.plugIn()
        _ = try await mark(#"{"name":"shared"}"#)
        _ = try await mark(#"{"name":"local","local":true}"#)

        for (readings, expected) in [(false, ["local", "shared"]), (true, ["shared"])] {
            _ = try await bench.directory.forget("\(ServerBench.id)", readings: readings)
            #expect(try await bench.marks.marks().map(\.mark.name).sorted() == expected)
            try await bench.plugIn()
        }
    }

    /// Another id of a meter has its marks too.
    @Test func aliasedMeter_hasTheMarksOfBothIds() async throws {
        try await bench.plugIn()
        let other = MeterID.usb(vendor: 0x5FC9, product: 0x0063, serial: "DEMO003C")
        _ = try await bench.marks.add(.init(name: "earlier"), of: other)
        _ = try await mark(#"{"name":"later"}"#)
        try await bench.directory.restore()
        try await bench.settings.add(alias: other, of: ServerBench.id)

        #expect(Set(try await names()) == ["earlier", "later"])
    }
}
