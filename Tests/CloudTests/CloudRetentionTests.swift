import Cloud
import CoreTestKit
import Domain
import Logging
import MeterTestKit
import StoreTestKit
import Testing

/// The cloud forgets deletions after half a year, by a date that no single calendar can move far.
struct CloudRetentionTests {
    private static let day = Duration.seconds(86_400)

    private let engine: TemporaryCloudEngine
    private let time = VirtualCloudClock()
    private let retention: CloudRetention

    init() async throws {
        engine = try TemporaryCloudEngine()
        retention = CloudRetention(engine: engine, clock: time.clock, logger: Self.silent)
        _ = try await engine.createZone("home", terms: .standard)
    }

    private static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    @Test func tombstone_goes_halfAYearAfterItCame() async throws {
        try await delete("m1")
        await retention.purge()
        try await live(days: 179)
        #expect(try await names == ["busy", "m1"])

        try await live(days: 2)
        #expect(try await names == ["busy"])
    }

    @Test func quietCloud_forgetsAsSoon() async throws {
        try await delete("m1")
        await retention.purge()
        time.advance(by: Self.day * 181)
        await retention.purge()

        #expect(try await names == [])
    }

    /// A time server is wrong, or lies, for three days; hosts write on.
    @Test func confirmedCalendarIn2099_purgesNothing_whileHostsWrite() async throws {
        try await delete("m1")
        await retention.purge()
        try await live(days: 10)
        time.stepWallClock(by: Self.day * 26_000)
        try await live(days: 3)

        #expect(try await names == ["busy", "m1"])
    }

    /// What was deleted while the calendar said 1970 ages from when it is right again, and so do the deletions that the
    /// hosts dated.
    @Test func deletionUnderAnUnconfirmedCalendar_agesFromItsConfirmation() async throws {
        try await write("m0")
        time.confirm(false)
        let lag = Self.day * 300
        time.stepWallClock(by: .zero - lag)
        try await delete("m1")
        await retention.purge()
        time.stepWallClock(by: lag)
        time.confirm(true)
        await retention.purge()
        try await live(days: 179)

        #expect(try await names == ["busy", "m0", "m1"])
    }

    @Test func unconfirmedCalendar_purgesNothing() async throws {
        try await delete("m1")
        await retention.purge()
        time.confirm(false)
        time.advance(by: Self.day * 400)
        await retention.purge()

        #expect(try await names == ["m1"])
    }

    /// Three copies that each counted a day's running would let the date go at three times the pace.
    @Test func copies_countTheirRunningOnce() async throws {
        let copies = (0..<3).map { _ in CloudRetention(engine: engine, clock: time.clock, logger: Self.silent) }
        for copy in copies { await copy.purge() }
        let first = try #require(try await engine.believedDate)
        time.stepWallClock(by: Self.day * 26_000)
        try await write("busy")
        for _ in 0..<3 {
            time.advance(by: Self.day)
            for copy in copies { await copy.purge() }
        }

        let date = try #require(try await engine.believedDate)
        #expect(date <= first + Self.day * (3 * 24))
    }

    /// A cloud that came back with an older calendar goes on, and says why its changes are dated as they are.
    @Test func clockThatIsBehind_isSaid() async throws {
        let service = CloudService(engine: engine, clock: time.clock, rng: CountingRNG(), logger: Self.silent)
        try await write("m1")
        #expect(await service.clockWarning() == nil)

        time.stepWallClock(by: .seconds(-61))

        #expect(await service.clockWarning()?.contains("clock is behind") == true)
    }

    private var names: [String] {
        get async throws { try await engine.records(in: "home", type: nil).map(\.key.name) }
    }

    private func live(days: Int) async throws {
        for _ in 0..<days {
            time.advance(by: Self.day)
            try await write("busy")
            await retention.purge()
        }
    }

    private func write(_ name: String) async throws {
        try await modify(SyncRecord(key: key(name), properties: ["a": Register(value: .int(1), stamp: stamp)]))
    }

    private func delete(_ name: String) async throws {
        try await modify(SyncRecord(key: key(name), deletion: Deletion(stamp: stamp)))
    }

    private func modify(_ record: SyncRecord) async throws {
        _ = try await engine.modify([record], in: "home", now: time.wallNow)
    }

    private func key(_ name: String) -> RecordKey { RecordKey(type: .deviceSettings, name: name) }

    private var stamp: Stamp {
        Stamp(milliseconds: UInt64(time.wallNow.millisecondsSince1970), counter: 0, host: .numbered(1))
    }
}
