import Domain
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

struct SeriesServiceTests {
    private let loop = VirtualLoop()
    private let access = ScriptedAccess()
    private let store: MeterStore
    private let recorder: SampleRecorder
    private let service: SeriesService

    init() {
        store = .temporary(through: access)
        recorder = SampleRecorder(meters: Meters(), repository: store, loop: loop, logger: LogBook().logger)
        service = SeriesService(repository: store, recorder: recorder, wallNow: { [loop] in loop.wallNow })
    }

    /// Readings from the start on, of which number n has n volts.
    private func chunk(_ numbers: Range<Int>, every step: Duration) -> SampleChunk? {
        var builder = SampleChunkBuilder(meter: .um)
        for number in numbers { builder.append(loop.wallNow + step * number, reading(number)) }
        return builder.finish()
    }

    private func reading(_ number: Int) -> Reading {
        var reading = Reading()
        reading[.voltage] = Double(number)
        return reading
    }

    private func readings(_ length: Duration) async throws -> [Double] {
        var found: [Double] = []
        try await service.readings(of: .um, in: loop.wallNow..<loop.wallNow + length) { sample in
            found.append(sample.reading[.voltage] ?? .nan)
        }
        return found
    }

    @Test func readings_comeWhole_overPages_withWhatIsNotStoredYet() async throws {
        try await store.append([chunk(0..<2000, every: .seconds(1))].compactMap(\.self))
        let track = recorder.track(for: .um)
        for number in 2000..<2100 { track.append(loop.wallNow + .seconds(number), reading(number)) }

        #expect(try await readings(.seconds(3600)) == (0..<2100).map { Double($0) })
        #expect(try await readings(.seconds(2050)) == (0..<2050).map { Double($0) })
    }

    /// As a chart of the last minute shows it: nothing has been stored yet.
    @Test(arguments: [false, true])
    func series_hasWhatWaits_whereNothingIsStored(ofSeconds: Bool) async throws {
        let track = recorder.track(for: .um)
        if ofSeconds { track.keepSeconds() }
        for number in 0..<3 { track.append(loop.wallNow + .seconds(number), reading(number)) }

        let series = try await service.series(
            of: .um, in: loop.wallNow..<loop.wallNow + .seconds(10), points: 10, quantities: [.voltage])

        #expect(series.columns.map(\.means) == [[0, 1, 2]])
    }

    /// A point without values marks it for a chart, and is no measurement.
    @Test func gapOfALongStretch_isNotCounted() async throws {
        let later = loop.wallNow + .seconds(36 * 3600)
        for time in [loop.wallNow, later] {
            var builder = SampleChunkBuilder(meter: .um)
            for number in 0..<5 { builder.append(time + .seconds(600 * number), reading(number)) }
            try await store.append([builder.finish()].compactMap(\.self))
        }
        while try await store.rollUp() > 0 {}
        let span = loop.wallNow..<later + .seconds(3600)

        let series = try await service.series(
            of: .um, in: span, points: SeriesBuilder.pointsMax, quantities: [.voltage])
        let summary = try await service.summary(of: .um, in: span, host: HostID(high: 1, low: 1))

        #expect(series.times.count == 11)
        #expect(summary.readings == 10)
    }

    /// The store counts how often it is asked, and the calendar steps by 70 years in the middle.
    @Test func emptyYears_costNothing() async throws {
        let later = loop.wallNow + .seconds(70 * 365 * 86_400)
        var builder = SampleChunkBuilder(meter: .um)
        for number in 0..<10 { builder.append(loop.wallNow + .seconds(number), reading(number)) }
        for number in 10..<20 { builder.append(later + .seconds(number), reading(number)) }
        try await store.append([builder.finish()].compactMap(\.self))

        #expect(try await readings(.seconds(71 * 365 * 86_400)) == (0..<20).map { Double($0) })
        #expect(access.reads < 20)
    }

    /// A minute's sum is for a minute of which nothing else is left, not for a silent part of one that is stored.
    @Test func silentPartOfAMinute_hasNoReading() async throws {
        let minute = loop.wallNow.floored(to: 60_000) + .seconds(60)
        var builder = SampleChunkBuilder(meter: .um)
        for second in 30..<60 { builder.append(minute + .seconds(second), reading(second)) }
        try await store.append([builder.finish()].compactMap(\.self))
        while try await store.rollUp() > 0 {}

        var found: [Double?] = []
        try await service.readings(of: .um, in: minute..<minute + .seconds(20)) { found.append($0.reading[.voltage]) }
        #expect(found.isEmpty)
        try await service.readings(of: .um, in: minute..<minute + .seconds(40)) { found.append($0.reading[.voltage]) }
        #expect(found == (30..<40).map { Double($0) })
    }

    @Test func stepOfTheCalendar_beginsANewChunk() throws {
        let track = recorder.track(for: .um)
        track.append(loop.wallNow, reading(0))
        track.append(loop.wallNow + .seconds(3600), reading(1))
        track.append(loop.wallNow + .seconds(70 * 365 * 86_400), reading(2))
        track.append(WallTime(millisecondsSince1970: 0), reading(3))

        #expect(recorder.waiting(of: .um).map(\.count) == [2, 1, 1])
    }

    @Test func readings_areMeansOfSeconds_whereTheyWereThinned() async throws {
        try await store.append([chunk(0..<100, every: .milliseconds(100))].compactMap(\.self))
        while try await store.rollUp() > 0 {}
        while try await store.thin(before: WallTime(millisecondsSince1970: .max)) > 0 {}
        try await store.append([chunk(10..<15, every: .seconds(1))].compactMap(\.self))

        #expect(try await readings(.seconds(60)) == (0..<10).map { Double($0) * 10 + 4.5 } + [10, 11, 12, 13, 14])
    }

    /// Also where a minute has no single reading any more.
    @Test func readings_areMeansOfSeconds_andNotOfMinutes_whereSecondsAreLeft() async throws {
        try await store.append([chunk(0..<100, every: .milliseconds(100))].compactMap(\.self))
        while try await store.rollUp() > 0 {}
        while try await store.thin(before: WallTime(millisecondsSince1970: .max)) > 0 {}

        #expect(try await readings(.seconds(60)) == (0..<10).map { Double($0) * 10 + 4.5 })
    }

    @Test func readings_areMeansOfMinutes_whereNothingElseIsLeft() async throws {
        try await store.append([chunk(0..<120, every: .seconds(1))].compactMap(\.self))
        while try await store.rollUp() > 0 {}
        _ = try await store.prune(before: WallTime(millisecondsSince1970: .max), maxBytes: .max)

        let found = try await readings(.seconds(600))

        #expect(found.count >= 2)
        #expect(found.reduce(0, +) / Double(found.count) > 20)
    }
}
