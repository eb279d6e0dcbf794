import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterCodec
import MeterSimulator
import MeterTestKit
import Synchronization
import Testing

/// Battery tests that drive a load, asked for over the control socket's routes.
@Suite(.timeLimit(.minutes(10)))
struct LoadRoutesTests {
    private let bench = ServerBench()
    private let loads: LoadService

    init() {
        loads = LoadService(
            directory: bench.directory, recordings: bench.recordings, loop: bench.loop, logger: bench.log.logger)
    }

    /// A load with a battery, at which no answer is lost.
    private func connectLoad() async throws {
        var quirks = SimulatedDL24.Quirks()
        (quirks.losesOneIn, quirks.losesCollisions) = (0, false)
        bench.links.plug(SimulatedDL24(battery: .init(capacity_mAh: 2500), quirks: quirks), at: ServerBench.path)
        let sighting = Sighting(
            id: ServerBench.id, model: .dl24, name: nil, link: .serial(path: ServerBench.path))
        await bench.directory.handle(.appeared(sighting))
        _ = try await bench.directory.connect("\(ServerBench.id)", ConnectRequest())
        try await pass("the load says whether it is on") { try await loadIsOn() != nil }
    }

    /// Lets time pass in small steps until something is so.
    private func pass(_ what: String, _ condition: () async throws -> Bool) async throws {
        try await eventually(what) {
            if try await condition() { return true }
            bench.loop.advance(by: .milliseconds(100))
            return false
        }
    }

    private func loadIsOn() async throws -> Bool? {
        let status = try await bench.request(.get, ServerBench.meter()).decode(MeterStatus.self)
        guard case .flag(let isOn)? = status.told?.details["load_on"] else { return nil }
        return isOn
    }

    /// The answer, which comes once the load was set or failed to be.
    private func request(_ method: HTTPMethod, _ body: String? = nil, drives: Bool = true) async throws -> Answer {
        let routes = RecordingRoutes(
            directory: bench.directory, recordings: bench.recordings, series: bench.series, alerts: bench.alerts,
            loads: drives ? loads : nil)
        let result = Mutex<Result<Answer, any Error>?>(nil)
        let task = Task { [bench] in
            let answer: Result<Answer, any Error>
            do {
                answer = .success(
                    try await bench.request(
                        method == .post ? .post : .delete, ServerBench.meter("/recording"), body, with: [routes]))
            } catch {
                answer = .failure(error)
            }
            result.withLock { $0 = answer }
        }
        try await pass("the request is answered") { result.withLock { $0 } != nil }
        await task.value
        return try #require(result.withLock { $0 }).get()
    }

    private enum HTTPMethod { case post, delete }

    private var nothingIsRecorded: Bool {
        bench.recorder.meters.all.allSatisfy { bench.recordings.track(for: $0).recording == nil }
    }

    @Test func load_isSetAndSwitchedOn_andOffWhenTheTestIsStopped() async throws {
        try await connectLoad()
        let body = #"{"name":"cell","load":{"current":"1.5A","cutoff":"3.0V","limit":"8h","on_link_loss":"off"}}"#

        let answer = try await request(.post, body)

        #expect(answer.status == 200, "\(answer.text)")
        let test = try #require(try answer.decode(RecordingBody.self).test)
        #expect(test.until == "current < 750mA for 10s")
        #expect(
            test.load
                == LoadBody(
                    current_A: 1.5, cutoff_V: 3, limit_ms: 8 * 3_600_000, on_link_loss: "off", state: "drawing"))
        try await pass("it draws") { try await loadIsOn() == true }

        let stopped = try await request(.delete)
        #expect(stopped.status == 200, "\(stopped.text)")
        #expect(try stopped.decode(RecordingBody.self).end == "hand")
        try await pass("it is off") { try await loadIsOn() == false }
        #expect(nothingIsRecorded)
    }

    @Test(arguments: [
        (#"{"load":{"current":"1.5A","cutoff":"3 apples"}}"#, "is not a voltage at which the load stops"),
        (#"{"load":{"current":"1.234A","cutoff":"3V"}}"#, "in steps of 10 mA"),
        (#"{"load":{"current":"0A","cutoff":"3V"}}"#, "is not a current to draw"),
        (#"{"load":{"current":"1A","cutoff":"3V","limit":"90s"}}"#, "whole minutes from 1m to 1092m"),
        (#"{"load":{"current":"1A","cutoff":"3V","on_link_loss":"explode"}}"#, "it takes keep"),
        (#"{"load":{"current":"1A","cutoff":"3V"},"start_above":"1A"}"#, "leave start_above out"),
        (#"{"load":{"current":"1A"}}"#, "cutoff"), (#"{"load":{"cutoff":"3V"}}"#, "current"),
    ])
    func requestWithoutWhatIsNeeded_isRefused_andNothingDraws(body: String, reason: String) async throws {
        try await connectLoad()

        let answer = try await request(.post, body)

        #expect(answer.status == 400)
        #expect(answer.text.contains(reason), "\(answer.text)")
        #expect(nothingIsRecorded)
        #expect(try await loadIsOn() == false)
    }

    private static let load = #"{"load":{"current":"1.5A","cutoff":"3.0V"}}"#

    @Test func meterThatIsNoLoad_isRefused() async throws {
        try await bench.connect()

        let answer = try await request(.post, Self.load)

        #expect(answer.status == 409)
        #expect(answer.error?.code == .refused)
        #expect(answer.text.contains("is not an electronic load"), "\(answer.text)")
        #expect(nothingIsRecorded)
    }

    @Test func hostThatDrivesNone_saysSo() async throws {
        try await connectLoad()

        let answer = try await request(.post, Self.load, drives: false)

        #expect(answer.error?.code == .refused)
        #expect(answer.text.contains("this host drives no loads"))
        #expect(nothingIsRecorded)
        #expect(try await loadIsOn() == false)
    }

    @Test func loadThatIsNotConnected_isRefused() async throws {
        try await connectLoad()
        _ = try await bench.directory.disconnect("\(ServerBench.id)")

        let answer = try await request(.post, Self.load)

        #expect(answer.error?.code == .notConnected, "\(answer.text)")
        #expect(nothingIsRecorded)
    }
}
