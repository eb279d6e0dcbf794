import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// `GET /v1/meters/{meter}/log`: this host's part, what was set, and what other hosts say.
@Suite(.timeLimit(.minutes(10)))
struct MeterLogRoutesTests {
    private let bench = ServerBench()

    private func get(
        _ query: String = "", of meter: String = ServerBench.meter(), link: (any LogLink)? = nil
    ) async throws -> Answer {
        try await bench.request(
            .get, "\(meter)/log\(query)", with: [MeterLogRoutes(log: bench.zoneLog(link: link))])
    }

    private func command(_ word: String) async throws {
        _ = try await bench.request(.post, ServerBench.meter("/commands"), #"{"command":"\#(word)"}"#)
    }

    @Test func log_tellsCommandsAndSettings_withTheirAuthors_theOldestFirst() async throws {
        try await bench.plugIn()
        try await command("rotate")
        bench.loop.advance(by: .seconds(1))
        _ = try await bench.request(.patch, ServerBench.meter("/settings"), #"{"settings":{"name":"Bench"}}"#)
        bench.loop.advance(by: .seconds(1))
        _ = try await bench.request(.patch, ServerBench.meter("/settings"), #"{"settings":{"name":null}}"#)

        let body = try await get().decode(LogBody.self)

        #expect(body.log.map(\.kind) == ["command", "setting", "setting"])
        #expect(body.log.map(\.what) == ["rotate", "name", "name"])
        #expect(body.log.map(\.age_ms) == [2000, 1000, 0])
        #expect(body.log[0].by == "alpha" && body.log[0].host == "alpha" && body.log[0].mine)
        #expect(body.log[0].detail?.contains("so it takes no command") == true)
        #expect(body.log[1].detail == "Bench" && body.log[1].by_id != nil && body.log[1].host == nil)
        #expect(body.log[2].detail == "default")
        #expect(body.others == .none && body.silent.isEmpty && !body.cut)
    }

    @Test func log_tellsMarks_whoeverSetThem() async throws {
        try await bench.plugIn()
        let moment = bench.loop.wallNow
        for (name, isOpen) in [("screen on", false), ("boot", true)] {
            _ = try await bench.marks.add(.init(name: name, start: moment, isOpen: isOpen), of: ServerBench.id)
        }

        let lines = try await get().decode(LogBody.self).log

        #expect(
            Set(lines.map { "\($0.kind) \($0.what) \($0.until ?? "open")" }) == [
                "mark screen on \(moment)", "mark boot open",
            ])
    }

    @Test func log_isOfTheTimeAndTheNumberAskedFor() async throws {
        try await bench.plugIn()
        for word in ["rotate", "setup", "next-screen"] {
            try await command(word)
            bench.loop.advance(by: .seconds(60))
        }
        let since = (bench.loop.wallNow + .seconds(-130)).description.replacing(":", with: "%3A")

        #expect(try await get("?limit=1").decode(LogBody.self).log.map(\.what) == ["next-screen"])
        #expect(try await get("?limit=1").decode(LogBody.self).cut)
        #expect(try await get("?within_ms=130000").decode(LogBody.self).log.map(\.what) == ["setup", "next-screen"])
        #expect(try await get("?since=\(since)").decode(LogBody.self).log.map(\.what) == ["setup", "next-screen"])
        #expect(try await get("?since=\(since)&within_ms=61000").decode(LogBody.self).log.count == 1)
    }

    @Test(arguments: ["limit=0", "limit=10001", "since=yesterday", "within_ms=-1", "within_ms=2h", "own=maybe"])
    func log_isRefused_forAQuestionThatMakesNoSense(query: String) async throws {
        try await bench.plugIn()
        #expect(try await get("?\(query)").status == 400)
    }

    @Test func log_ofAnUnknownMeter_is404() async throws {
        #expect(try await get(of: "/v1/meters/bench").error?.code == .noSuchMeter)
    }

    // MARK: Other hosts

    /// What the zone says, and what it was asked.
    private final class Zone: LogLink {
        let parts: Result<LogParts, SyncFailure>
        let asked = Mutex<[Duration?]>([])

        init(_ parts: Result<LogParts, SyncFailure>) { self.parts = parts }

        func parts(of meter: MeterID, within: Duration?) async throws(SyncFailure) -> LogParts {
            asked.withLock { $0.append(within) }
            return try parts.get()
        }

        func answer(_ question: LogQuestion, with part: LogPart) async throws(SyncFailure) {}
    }

    /// A host whose calendar says 1970 is in its place: only ages are compared.
    private func line(_ what: String, age: Int64) -> LogLine {
        var line = LogLine(
            .command, what, age: .seconds(age), lastAge: .seconds(age), time: WallTime(millisecondsSince1970: 5000),
            detail: "done")
        line.by = "gamma"
        return line
    }

    @Test func linesOfOthers_areInTheirPlace_whateverTheirCalendarsSay() async throws {
        try await bench.plugIn()
        try await command("setup")
        bench.loop.advance(by: .seconds(60))
        let part = LogPart(lines: [line("rotate", age: 90), line("brightness 3", age: 30)], isCut: true)
        let zone = Zone(
            .success(
                LogParts(
                    parts: [
                        .init(host: HostID(high: 2, low: 2), hostName: "beta", part: part),
                        .init(
                            host: HostID(high: 3, low: 3), hostName: "delta", part: LogPart(lines: [], isShared: false)),
                    ], silent: ["epsilon"])))

        let body = try await get("?within_ms=100000", link: zone).decode(LogBody.self)

        #expect(body.log.map(\.what) == ["rotate", "setup", "brightness 3"])
        #expect(body.log.map(\.host) == ["beta", "alpha", "beta"])
        #expect(body.log[0].at == (bench.loop.wallNow + .seconds(-90)).description)
        #expect(body.log[0].host_time.hasPrefix("1970-01-01T00:00:05"))
        #expect(body.silent == ["epsilon"] && body.unshared == ["delta"] && body.cut && body.others == .asked)
        #expect(zone.asked.withLock { $0 } == [.seconds(100)])
        _ = try await get("?own=true", link: zone)
        #expect(zone.asked.withLock { $0.count } == 1)
    }

    @Test func cloudThatCannotBeAsked_isSaid_withThisHostsPart() async throws {
        try await bench.plugIn()
        try await command("rotate")
        let zone = Zone(.failure(SyncFailure(.network, "no route")))

        let body = try await get(link: zone).decode(LogBody.self)

        #expect(body.log.map(\.what) == ["rotate"])
        #expect(body.others == .unreachable && body.error == "no route")
    }

    // MARK: This host's part, for others

    @Test func part_hasTheNewestThatThereIsRoomFor_andNoSettings() async throws {
        try await bench.plugIn()
        _ = try await bench.request(.patch, ServerBench.meter("/settings"), #"{"settings":{"name":"Bench"}}"#)
        let log = bench.zoneLog()
        let question = LogQuestion(id: RequestID(high: 1, low: 1), meter: ServerBench.id)
        #expect(try await log.part(for: question).lines.isEmpty)
        let running = Task { [happened = bench.happened] in await happened.run() }
        await bench.loop.timers(reach: 1)
        for number in 0..<600 {
            try await bench.happened.logging("brightness \(number)", of: ServerBench.id, by: .person) {
                () throws(GatewayError) in
            }
            guard (number + 1).isMultiple(of: 200) else { continue }
            bench.loop.advance(by: .seconds(60))
            try await eventually("it is written") { try await bench.store.lastLogNumber() == Int64(number) + 1 }
        }
        bench.happened.finish()
        await running.value

        let part = try await log.part(for: question)

        #expect(part.lines.count == 500 && part.isCut && part.isShared)
        #expect(part.lines.last?.what == "brightness 599")
        #expect(part.lines.map(\.age) == part.lines.map(\.age).sorted(by: >))
    }

    @Test func hostThatKeepsThingsToItself_tellsNothing() async throws {
        try await bench.plugIn()
        try await command("rotate")
        let part = try await bench.zoneLog(shares: false).part(
            for: LogQuestion(id: RequestID(high: 1, low: 1), meter: ServerBench.id))
        #expect(part == LogPart(lines: [], isShared: false))
    }

    @Test func part_ofAMeterThatWasNeverHere_isEmpty() async throws {
        let question = LogQuestion(
            id: RequestID(high: 1, low: 1), meter: .mac(MACAddress(bits: 0x0200_0000_0001)), within: .seconds(5))
        #expect(try await bench.zoneLog().part(for: question) == LogPart(lines: []))
    }
}
