import Domain
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// What is stored is sent, once, whatever the server does meanwhile.
@Suite(.timeLimit(.minutes(10)))
struct InfluxServiceTests {
    private let loop = VirtualLoop()
    private let store = MeterStore.temporary()
    private let log = LogBook()
    private let server = ScriptedSink()
    private let journal = MemoryJournal()
    private let meter = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))
    private let recorder: SampleRecorder

    init() { recorder = SampleRecorder(meters: Meters(), repository: store, loop: loop, logger: log.logger) }

    private func service(_ settings: SendMachine.Settings = .init()) -> InfluxService {
        InfluxService(
            settings, measurement: "meter", hostName: "pi",
            InfluxService.Dependencies(
                series: SeriesService(repository: store, recorder: recorder, wallNow: { [loop] in loop.wallNow }),
                stored: store, present: { [recorder] in recorder.meters.used },
                tags: { meters in
                    Dictionary(uniqueKeysWithValues: meters.map { ($0, .init(name: "my bench", model: "UM25C")) })
                }, sink: server, journal: journal, loop: loop), logger: log.logger)
    }

    /// So many readings, one a second, the last one a second ago. It takes that time.
    private func measure(_ count: Int, of meter: MeterID? = nil) async throws {
        loop.advance(by: .seconds(count))
        var builder = SampleChunkBuilder(meter: meter ?? self.meter)
        for number in 0..<count {
            var reading = Reading()
            reading[.voltage] = Double(number)
            builder.append(loop.wallNow + .seconds(number - count), reading)
        }
        try await store.append([builder.finish()].compactMap(\.self))
    }

    /// Runs the service while `body` lets time pass.
    private func run(_ service: InfluxService, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            try await body()
            service.finish()
            try await group.waitForAll()
        }
    }

    /// Lets time pass until the server has been asked so often.
    private func pass(until count: Int) async throws {
        try await eventually("\(count) requests") {
            loop.advance(by: .milliseconds(500))
            return server.requests.count >= count
        }
    }

    @Test func storedReadings_areSentOnce_withTheirTags() async throws {
        try await measure(30)
        let service = service()

        try await run(service) {
            try await pass(until: 1)
            try await measure(5)
            try await pass(until: 2)
        }

        let lines = server.lines
        #expect(lines.count == 35)
        #expect(
            lines.first?.hasPrefix(#"meter,host=pi,id=02:00:00:00:25:0C,model=UM25C,name=my\ bench voltage_V=0.0 "#)
                == true)
        #expect(Set(lines).count == 35)
        #expect(service.state.sent == 35)
        #expect(journal.positions[meter] != nil)
    }

    @Test func whatIsNotStoredYet_isSentToo() async throws {
        let track = recorder.track(for: meter)
        var reading = Reading()
        reading[.voltage] = 5
        track.append(loop.wallNow + .seconds(-1), reading)

        try await run(service()) { try await pass(until: 1) }

        #expect(server.lines.count == 1)
    }

    @Test func afterAnOutage_allOfItIsSent_inBoundedBatches() async throws {
        try await measure(1000)
        var settings = SendMachine.Settings()
        settings.pointsMax = 100
        server.answers = [.later(after: nil, "no connection"), .later(after: .seconds(5), "busy")]
        let service = service(settings)

        // Two that get nothing there, a batch of half the size after the first of them, nine whole ones, and the rest.
        try await run(service) { try await pass(until: 13) }

        #expect(server.requests.dropFirst(2).allSatisfy { $0.count <= 100 })
        let taken = server.requests.dropFirst(2).flatMap { $0 }
        #expect(taken.count == 1000 && Set(taken).count == 1000)
        #expect(log.entries(saying: "readings not sent to InfluxDB").count == 1)
        #expect(log.entries(saying: "sending to InfluxDB resumed").count == 1)
        #expect(service.state.trouble == nil)
    }

    @Test func afterARestart_itGoesOnWhereItWas() async throws {
        try await measure(10)
        try await run(service()) { try await pass(until: 1) }
        let first = server.lines.count

        try await measure(3)
        try await run(service()) { try await pass(until: 2) }

        #expect(first == 10)
        #expect(server.lines.count == 13 && Set(server.lines).count == 13)
    }

    @Test func filesReadings_areNotSent() async throws {
        try await measure(10, of: .port(host: "pi", path: "import/x/0/1"))
        try await measure(2)

        try await run(service()) { try await pass(until: 1) }

        #expect(server.lines.count == 2)
    }

    /// A server that takes no batch with the 70th reading in it.
    @Test func readingThatSpoilsABatch_isPassedOver_andNoOther() async throws {
        try await measure(10)
        let service = service()
        server.isUnwanted = { $0.contains("voltage_V=70.0 ") }

        try await run(service) {
            try await pass(until: 1)
            try await measure(100)
            try await eventually("the rest") {
                loop.advance(by: .milliseconds(500))
                return service.state.sent == 109
            }
        }

        #expect(server.lines.count == 109 && Set(server.lines).count == 109)
        #expect(service.state.rejected == 1 && service.state.trouble == nil)
        #expect(log.entries(saying: "points rejected by InfluxDB").count == 1)
    }

    @Test func refusedPoints_areLoggedOnce() async throws {
        let service = service()
        server.answers = Array(repeating: .partly(dropped: 1, "field type conflict"), count: 5)

        try await run(service) {
            for count in 1...5 {
                try await measure(3)
                try await pass(until: count)
            }
        }

        #expect(service.state.rejected == 5 && service.state.sent == 10)
        #expect(log.entries(saying: "points rejected by InfluxDB").count == 1)
    }

    /// `meterd` ends within seconds, whatever a server does.
    @Test func stop_doesNotWaitForAServerThatHangs() async throws {
        try await measure(10)
        let service = service()
        server.hangs = true

        try await run(service) { try await pass(until: 1) }

        #expect(service.state.sent == 0 && service.state.trouble == nil)
        #expect(log.entries.isEmpty && journal.positions.isEmpty)
    }

    @Test(arguments: [-30, -7200]) func calendarThatIsSetBack_stopsNothing(seconds: Int) async throws {
        try await measure(10)
        let service = service()

        try await run(service) {
            try await pass(until: 1)
            loop.stepWallClock(by: .seconds(seconds))
            try await eventually("the calendar is where it was") {
                loop.advance(by: .seconds(100))
                return loop.now >= .origin + .seconds(10_000)
            }
            let before = server.requests.count
            try await measure(5)
            try await pass(until: before + 1)
        }

        #expect(Set(server.lines.suffix(5)).count == 5)
        #expect(service.state.trouble == nil)
    }

    @Test func metersThatAreGone_leaveNothing() async throws {
        let other = MeterID.mac(MACAddress(bits: 7))
        try await measure(3)
        try await measure(3, of: other)

        try await run(service()) {
            try await pass(until: 1)
            _ = try await store.deleteReadings(of: other)
            try await measure(3)
            try await pass(until: 2)
        }

        #expect(journal.positions.keys.sorted() == [meter])
    }

    @Test func journalThatCannotBeWritten_isSaid_andSendingGoesOn() async throws {
        let service = service()
        journal.failure = StoreError(.system, "no room")
        try await measure(2)

        try await run(service) { try await pass(until: 1) }

        #expect(log.entries(saying: "InfluxDB send progress not written").count == 1)
        #expect(service.state.sent == 2)
    }
}

/// Answers as a test says, and then takes everything.
private final class ScriptedSink: PointSink {
    private struct State {
        var answers: [SendAnswer] = []
        var requests: [[String]] = []
        var taken: [String] = []
        var isUnwanted: @Sendable (String) -> Bool = { _ in false }
        var hangs = false
    }

    private let state = Mutex(State())

    var answers: [SendAnswer] {
        get { state.withLock { $0.answers } }
        set { state.withLock { $0.answers = newValue } }
    }

    /// Of a line that spoils the batch it is in.
    var isUnwanted: @Sendable (String) -> Bool {
        get { state.withLock { $0.isUnwanted } }
        set { state.withLock { $0.isUnwanted = newValue } }
    }

    var hangs: Bool {
        get { state.withLock { $0.hangs } }
        set { state.withLock { $0.hangs = newValue } }
    }

    var requests: [[String]] { state.withLock { $0.requests } }
    /// Those that it took.
    var lines: [String] { state.withLock { $0.taken } }

    func send(_ lines: [UInt8]) async -> SendAnswer {
        let (answer, hangs) = state.withLock { state -> (SendAnswer, Bool) in
            let lines = String(decoding: lines, as: UTF8.self).split(separator: "\n").map(String.init)
            state.requests.append(lines)
            var answer = state.answers.isEmpty ? SendAnswer.taken : state.answers.removeFirst()
            if lines.contains(where: state.isUnwanted) { answer = .unwanted("unable to parse") }
            if case .taken = answer { state.taken += lines }
            return (answer, state.hangs)
        }
        guard hangs else { return answer }
        let (forever, end) = AsyncStream<Void>.makeStream()
        for await _ in forever {}
        end.finish()
        return .later(after: nil, "meterd is stopping")
    }
}

private final class MemoryJournal: SendJournal {
    private let state = Mutex<([MeterID: WallTime], StoreError?)>(([:], nil))

    var positions: [MeterID: WallTime] { state.withLock { $0.0 } }
    var failure: StoreError? {
        get { state.withLock { $0.1 } }
        set { state.withLock { $0.1 = newValue } }
    }

    func load() -> [MeterID: WallTime] { positions }

    func save(_ positions: [MeterID: WallTime]) throws {
        try state.withLock { state in
            if let failure = state.1 { throw failure }
            state.0 = positions
        }
    }
}
