import Domain
import Gateway
import GatewayAPI
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// Marks of hosts that share their records.
@Suite(.timeLimit(.minutes(10)))
struct MarkServiceTests {
    /// One host with a calendar of its own.
    private final class Host: Sendable {
        let store: MeterStore
        let settings: SettingsService
        let marks: MarkService
        let calendar: Box

        init(_ number: UInt64, at wall: WallTime = start, believed: WallTime? = nil, store: MeterStore? = nil) {
            let host = HostID(high: 0x1111_1111_1111_4111, low: 0x8000_0000_0000_0000 + number)
            let calendar = Box(wall)
            let store = store ?? .temporary(of: host)
            self.store = store
            settings = SettingsService(
                repository: store, now: { HostMoment(wall: calendar.time, sinceBoot: .origin) },
                logger: LogBook().logger)
            marks = MarkService(
                host: host, settings: settings, repository: store, wallNow: { calendar.time }, believed: { believed })
            self.calendar = calendar
        }

        func add(_ name: String, isOpen: Bool = false, isLocal: Bool = false) async throws -> MarkEntry {
            try await marks.add(.init(name: name, isOpen: isOpen, isLocal: isLocal), of: .um)
        }

        /// What a page of the cloud brings here: all that another host has.
        func receive(from other: Host) async throws {
            let records = try await other.store.records(of: .mark)
            let page = ChangesPage(type: .mark, records: records, token: "t", moreComing: false, epoch: "e")
            await settings.merged(try await store.apply(page))
        }

        /// Each mark as `name from..to`, in seconds after the start.
        var lines: [String] {
            get async throws {
                try await marks.marks(of: [.um]).map { entry in
                    let end = entry.mark.end.map { "\(seconds($0))" } ?? "open"
                    return "\(entry.mark.name) \(seconds(entry.mark.start))..\(end)"
                }
            }
        }
    }

    private final class Box: Sendable {
        private let value: Mutex<WallTime>

        init(_ time: WallTime) { value = Mutex(time) }

        var time: WallTime {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    private static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)
    private static func seconds(_ time: WallTime) -> Int64 {
        (time.millisecondsSince1970 - start.millisecondsSince1970) / 1000
    }

    private func failure(_ body: () async throws -> some Sendable) async -> GatewayError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? GatewayError
        }
    }

    @Test func sharedMarks_areTheSameOnBothHosts_whoeverChangesThem() async throws {
        let (one, two) = (Host(1), Host(2))
        let boot = try await one.add("boot", isOpen: true)
        _ = try await one.add("secret", isLocal: true)
        try await two.receive(from: one)

        two.calendar.time = Self.start + .seconds(5)
        _ = try await two.marks.change(boot.mark.id.short, name: "boot loader", end: .now)
        _ = try await two.add("screen on")
        try await one.receive(from: two)

        #expect(try await two.lines == ["boot loader 0..5", "screen on 5..5"])
        #expect(Set(try await one.lines) == ["boot loader 0..5", "screen on 5..5", "secret 0..0"])
    }

    /// Both change the mark before they hear of each other.
    ///
    /// - `later`: what the second host does, after the first by its clock.
    @Test(arguments: [
        ("rename", "rename", ["two 0..open"]), ("rename", "end", ["one 0..7"]), ("end", "rename", ["two 0..6"]),
        ("delete", "rename", []), ("delete", "end", []), ("rename", "delete", []), ("end", "delete", []),
        ("delete", "delete", []),
    ])
    func concurrentChanges_endAlike_andADeletionWins(earlier: String, later: String, expected: [String]) async throws {
        let (one, two) = (Host(1), Host(2))
        let id = try await one.add("boot", isOpen: true).mark.id.short
        try await two.receive(from: one)
        for (host, deed, name, second) in [(one, earlier, "one", 6), (two, later, "two", 7)] {
            host.calendar.time = Self.start + .seconds(second)
            switch deed {
            case "rename": _ = try await host.marks.change(id, name: name)
            case "end": _ = try await host.marks.change(id, end: .now)
            default: _ = try await host.marks.delete(id)
            }
        }

        try await one.receive(from: two)
        try await two.receive(from: one)

        #expect(try await one.lines == expected)
        #expect(try await two.lines == expected)
    }

    @Test func marksOfOneMoment_areTwo_withIdsOfTheirOwn() async throws {
        let host = Host(1)
        let ids = [try await host.add("a"), try await host.add("a")].map(\.mark.id.short)

        #expect(Set(ids).count == 2 && ids.allSatisfy { $0.count == 8 })
        #expect(try await host.lines == ["a 0..0", "a 0..0"])
        #expect(await failure { try await host.marks.change("", name: "b") }?.code == .notFound)
        #expect(await failure { try await host.marks.change(ids[0], end: .now) }?.code == .refused)
    }

    /// The store is a file, whose answers come later.
    @Test func marksMadeAtOnce_areAllKept() async throws {
        let folder = try TemporaryFolder()
        let host = Host(1, store: try MeterStore.open(path: folder.path + "/meters.db"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { _ = try await host.add("\(number)", isLocal: number % 2 == 0) } }
            try await group.waitForAll()
        }

        #expect(Set(try await host.lines) == Set((0..<20).map { "\($0) 0..0" }))
    }

    /// Shared ones stay and a further one is refused; of local ones the oldest goes. Either says nothing of the other.
    @Test func marksOfAMeter_haveALimit() async throws {
        let host = Host(1)
        let id = RecordingID(host: host.store.identity.host, meter: .um, token: 0, started: Self.start)
        let changes = (0..<MarkService.marksMax).flatMap { number in
            var id = id
            id.token = UInt64(number)
            return Mark(id: id, name: "\(number)", end: Self.start).properties.map {
                SettingChange(key: RecordKey(type: .mark, name: id.recordName), property: $0.key, value: $0.value)
            }
        }
        _ = try await host.store.write(changes, at: HostMoment(wall: Self.start, sinceBoot: .origin))

        let refusal = await failure { try await host.add("one more") }
        #expect(refusal?.code == .refused && refusal?.next.contains("--local") == true)
        for number in 0...MarkService.marksMax {
            host.calendar.time = Self.start + .seconds(number)
            _ = try await host.add("local \(number)", isLocal: true)
        }
        let local = try await host.marks.marks().filter(\.isLocal).map(\.mark.name)
        #expect(local.count == MarkService.marksMax && local.first == "local 1")
        #expect(try await host.marks.marks().count == 2 * MarkService.marksMax)
    }

    @Test(arguments: [
        (WallTime(millisecondsSince1970: 5000), WallTime?.none), (start, start + .seconds(2 * 86_400)),
    ])
    func wrongCalendar_marksNothing_butWhatIsSaid(now: WallTime, believed: WallTime?) async throws {
        let host = Host(1, at: now, believed: believed)

        let refusal = await failure { try await host.add("boot") }
        #expect(refusal?.code == .refused && refusal?.message.contains("\(now)") == true)
        _ = try await host.marks.add(.init(name: "boot", start: Self.start), of: .um)
        #expect(try await host.lines == ["boot 0..0"])
    }

    @Test(arguments: [
        MarkService.Order(name: "\u{1B}\n"), .init(name: String(repeating: "x", count: 81)),
        .init(name: "a", start: start + .seconds(2 * 86_400)),
        .init(name: "a", start: WallTime(millisecondsSince1970: -5)),
        .init(name: "a", start: start, end: start + .seconds(-1)),
        .init(name: "a", start: start, end: start, isOpen: true),
        .init(name: "a", end: start + .seconds(2 * 86_400)),
    ])
    func whatMakesNoSense_isRefused(order: MarkService.Order) async throws {
        let host = Host(1)
        #expect(await failure { try await host.marks.add(order, of: .um) }?.code == .badRequest)
        #expect(try await host.lines.isEmpty)
    }

    @Test func news_areOfSharedMarksAlone() async throws {
        let host = Host(1)
        let id = try await host.add("a").mark.id.short
        _ = try await host.add("b", isLocal: true)
        _ = try await host.marks.change(id, name: "c")

        #expect(host.marks.takeNews().map(\.mark.name) == ["a", "c"])
        #expect(host.marks.takeNews().isEmpty)
    }
}
