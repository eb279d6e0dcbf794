import Domain
import Gateway
import MeterCodec
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// What happened to meters, over restarts.
struct LogStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(boot: String = "a boot") throws -> MeterStore {
        try MeterStore.open(
            path: folder.store,
            options: .init(machine: Machine(digest: String(repeating: "1", count: 64), boot: boot)))
    }

    @Test(arguments: LogRepositoryContract.clauses)
    func store_keepsTheLogContract(_ clause: LogRepositoryContract.Clause) async throws {
        try await clause.check(try open())
    }

    private func line(_ number: Int64, of meter: MeterID = .one, count: Int = 1) -> StoredLogLine {
        let moment = LogMoment(
            wall: WallTime(millisecondsSince1970: 30_000 + number), sinceBoot: .origin + .seconds(100 + number))
        return StoredLogLine(
            number: number, meter: meter,
            entry: LogEntry(.state(.offline, cause: "device gone"), first: moment, count: count))
    }

    /// A machine that began in 1970 and whose calendar was set right since: ages are right until it is started again, and
    /// count by the calendar then.
    @Test func age_isRightInTheSameBoot_whateverTheCalendarWas() async throws {
        let first = try open()
        try await first.keepLog([line(1)], countMax: 9)
        try first.close()
        let now = HostMoment(
            wall: WallTime(millisecondsSince1970: 1_795_000_000_000), sinceBoot: .origin + .seconds(161))

        let same = try open()
        #expect(try await same.log(of: [.one], limit: 9).map { $0.entry.first.age(at: now) } == [.seconds(60)])
        try same.close()
        let later = try open(boot: "another boot")
        let entry = try #require(try await later.log(of: [.one], limit: 9).first?.entry)
        #expect(entry.first.sinceBoot == nil && entry.first.wall.millisecondsSince1970 == 30_001)
        #expect(entry.first.age(at: now) == .milliseconds(1_795_000_000_000 - 30_001))
    }

    /// Where nobody says which start of the machine it is, two of them cannot be told apart.
    @Test func timeSinceBoot_isNotBelieved_whereTheBootIsUnknown() async throws {
        let unknown = try MeterStore.open(path: folder.store)
        try await unknown.keepLog([line(1)], countMax: 9)
        #expect(try await unknown.log(of: [.one], limit: 9).map(\.entry.first.sinceBoot) == [nil])
        try unknown.close()

        let known = try open()
        #expect(try await known.log(of: [.one], limit: 9).map(\.entry.first.sinceBoot) == [nil])
        try await known.keepLog([line(2)], countMax: 9)
        #expect(
            try await known.log(of: [.one], limit: 9).map(\.entry.last.sinceBoot) == [nil, .origin + .seconds(102)])
        try known.close()
        let later = try MeterStore.open(path: folder.store)
        #expect(try await later.log(of: [.one], limit: 9).map(\.entry.last.sinceBoot) == [nil, nil])
    }

    /// All lines of a batch or none, whenever the program is killed.
    @Test func keepLog_isWholeOrNothing_whenKilledAtAnyStatement() async throws {
        let made = try open()
        try await made.keepLog([line(1), line(2)], countMax: 3)
        try made.close()
        let recorder = CopyAtEachStatement(folder)
        let machine = Machine(digest: String(repeating: "1", count: 64), boot: "a boot")
        let store = try MeterStore.open(
            path: folder.store, options: .init(machine: machine, onStatement: recorder.statementBegins))

        recorder.isOn.withLock { $0 = true }
        try await store.keepLog([line(2, count: 7), line(3), line(4)], countMax: 3)
        recorder.isOn.withLock { $0 = false }

        let (before, after) = ([line(1), line(2)], [line(2, count: 7), line(3), line(4)])
        let copies = try recorder.copies()
        #expect(recorder.moments > 4)
        for copy in copies {
            let again = try MeterStore.open(path: copy, options: .init(machine: machine))
            let found = try await again.log(of: [.one], limit: 9)
            #expect(found == before || found == after, "\(copy)")
            #expect(try await again.quickCheck() == [])
            try again.close()
        }
        #expect(try await store.log(of: [.one], limit: 9) == after)
    }

    /// Ids that only one host can issue: the log follows.
    @Test func log_comesAlong_whenAnIdBecomesThisHostsOwn() async throws {
        let old = MeterID.port(host: "raspberrypi", path: "/dev/ttyUSB0")
        let first = try MeterStore.open(path: folder.store)
        try await first.save(KnownMeter(id: old, model: .um25c))
        try await first.keepLog([line(1, of: old)], countMax: 9)
        try first.close()

        let second = try MeterStore.open(path: folder.store)

        let own = old.given(by: second.identity.host)
        #expect(try await second.log(of: [own], limit: 9).map(\.number) == [1])
        #expect(try await second.log(of: [old], limit: 9).isEmpty)
    }
}
