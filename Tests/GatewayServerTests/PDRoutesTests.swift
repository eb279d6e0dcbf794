import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PDRoutesTests {
    private let bench = ServerBench()
    private static let id = MeterID.usb(vendor: 0x5FC9, product: 0x0063, serial: "DEMO003C")
    private static let path = "/dev/ttyACM0"
    private static let uri = "/v1/meters/usb%3A5fc9%3A0063%3ADEMO003C/pd"

    private func request(_ uri: String = Self.uri) async throws -> Answer {
        try await bench.request(.get, uri, with: [PDRoutes(directory: bench.directory)])
    }

    /// A meter that hears PD, which has been listened to for some time.
    private func listen(for time: Duration) async throws {
        bench.links.plug(try #require(SimulatorCatalogue.standard.meter(.km003c)), at: Self.path)
        let sighting = Sighting(id: Self.id, model: .km003c, name: nil, link: .serial(path: Self.path))
        await bench.directory.handle(.appeared(sighting))
        _ = try await bench.directory.connect("\(Self.id)", ConnectRequest())
        bench.loop.advance(by: time)
    }

    @Test func timeline_isTold() async throws {
        try await listen(for: .seconds(14))

        let body = try await request().decode(PDBody.self)

        #expect(body.meter == "\(Self.id)")
        #expect(body.listening)
        #expect(body.attached == true)
        #expect(body.contract?.text == "9 V 2.2 A of object 2, 9 V 3 A")
        #expect(body.contract?.voltage_V == 9)
        #expect(body.contract?.since != nil)
        #expect(body.line?.voltage_V ?? 0 > 8.5)
        #expect(body.capabilities.map(\.kind) == ["fixed", "fixed", "fixed", "fixed", "fixed", "pps"])
        #expect(body.capabilities.last?.voltage_max_V == 11)
        #expect(body.entries.map(\.number) == Array(1...body.last))
        let first = try #require(body.entries.first { $0.message?.name == "Source_Capabilities" })
        #expect(first.message?.from == "source")
        #expect(first.message?.objects == body.capabilities)
        #expect(body.entries.contains { $0.kind == "voltage" })
        #expect(body.entries.contains { $0.message?.sop == "SOP'" && $0.message?.to == "cable" })
        #expect(try await bench.routeStatus(of: Self.id)?.hears_pd == true)
    }

    @Test func news_isWhatCameAfter() async throws {
        try await listen(for: .seconds(5))
        let first = try await request().decode(PDBody.self)
        #expect(try await request(Self.uri + "?after=\(first.last)").decode(PDBody.self).entries.isEmpty)

        bench.loop.advance(by: .seconds(9))

        let second = try await request(Self.uri + "?after=\(first.last)").decode(PDBody.self)
        #expect(second.entries.first?.number == first.last + 1)
        #expect(second.entries.contains { $0.message?.name == "Request" })
    }

    @Test func files_areTextAndPcapng() async throws {
        try await listen(for: .seconds(5))

        let text = try await request(Self.uri + "?format=text")
        #expect(text.contentType == "text/plain; charset=utf-8")
        #expect(text.text.contains("contract: 5 V 3 A of object 1, 5 V 3 A\n"))
        #expect(text.text.contains("SOP source > sink"))
        let capture = try await request(Self.uri + "?format=pcapng")
        #expect(capture.status == 200)
        #expect(capture.text.hasPrefix("\u{0A}\r\r\u{0A}") || capture.text.utf8.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]))
    }

    @Test func mistakes_areNamed() async throws {
        try await bench.connect()
        let other = try await request(ServerBench.meter("/pd"))
        #expect(other.status == 409)
        #expect(other.error?.code == .refused)
        #expect(other.error?.message.contains("UM25C, cannot hear USB Power Delivery") == true)
        #expect(other.error?.next == "models that can: KM003C, KM002C, WITRN K2, WITRN C5, WITRN")
        #expect(try await bench.routeStatus(of: ServerBench.id)?.hears_pd == nil)

        try await listen(for: .seconds(1))
        #expect(try await request(Self.uri + "?format=png").error?.next == "it takes json, text or pcapng")
        #expect(try await request(Self.uri + "?after=-1").status == 400)
        #expect(try await request("/v1/meters/nobody/pd").status == 404)
    }

    @Test func meterThatIsNotConnected_tellsWhatWasHeard_andThatNothingIsHeardNow() async throws {
        try await listen(for: .seconds(5))
        _ = try await bench.directory.disconnect("\(Self.id)")
        bench.loop.advance(by: .seconds(2))

        let body = try await request().decode(PDBody.self)

        #expect(!body.listening)
        #expect(!body.entries.isEmpty)
    }
}

extension ServerBench {
    fileprivate func routeStatus(of id: MeterID) async throws -> MeterStatus? {
        try await request(.get, "/v1/status").decode(GatewayStatus.self).meters.first { $0.id == "\(id)" }
    }
}
