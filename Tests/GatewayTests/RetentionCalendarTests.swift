import Domain
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// What a host checks about its calendar before it deletes anything by age.
struct RetentionCalendarTests {
    private let store = MeterStore.temporary()
    private let clock = TestCalendar()
    private let log = LogBook()

    private func calendar(of other: MeterStore? = nil) -> RetentionCalendar {
        RetentionCalendar(
            repository: other ?? store,
            clocks: .init(now: { [clock] in clock.now }, wallNow: { [clock] in clock.wall }) { [clock] in
                clock.isConfirmed
            },
            logger: log.logger)
    }

    private func chunks(at time: WallTime) -> [SampleChunk] {
        var builder = SampleChunkBuilder(meter: .um)
        builder.append(time, Reading())
        return [builder.finish()].compactMap(\.self)
    }

    private func store(at time: WallTime, by calendar: RetentionCalendar) async throws {
        let chunks = chunks(at: time)
        try await calendar.willStore(chunks.map { $0.first...$0.last })
        try await store.append(chunks)
    }

    /// Deletes what is older than a year, and returns what is left.
    private func prune(by calendar: RetentionCalendar) async throws -> [WallTime] {
        let cutoff = try await calendar.today() + .seconds(-365 * 86_400)
        _ = try await store.prune(before: cutoff, maxBytes: .max)
        let always = WallTime(millisecondsSince1970: .min)..<WallTime(millisecondsSince1970: .max)
        return try await store.samples(of: .um, in: always, limit: .max).map(\.time)
    }

    @Test func startIn2099_deletesNothing() async throws {
        clock.isConfirmed = true
        let first = clock.wall
        try await store(at: first, by: calendar())

        clock.isConfirmed = false
        clock.wall = first + .seconds(73 * 365 * 86_400)
        let wrong = calendar()
        try await store(at: clock.wall, by: wrong)
        #expect(try await prune(by: wrong) == [first, clock.wall])
        clock.run(.seconds(100 * 3600))
        #expect(try await prune(by: wrong).first == first)

        clock.wall = first + .seconds(3600)
        clock.isConfirmed = true
        #expect(try await prune(by: calendar()).count == 2)
    }

    /// An earlier version kept no date: the readings have one.
    @Test func storeOfAnEarlierVersion_isBelieved_whereTheCalendarIsNot() async throws {
        let first = clock.wall
        try await store.append(chunks(at: first))

        clock.wall = first + .seconds(73 * 365 * 86_400)

        #expect(try await calendar().today() == first)
        #expect(try await prune(by: calendar()) == [first])
    }

    /// Readings that began or ended under a calendar that is more than a day off are doubted, also once it is right.
    @Test(arguments: [(-1, -1), (-1, 0), (-1, 1), (0, 0), (0, 1), (1, 1)])
    func readings_areDoubted_whereEitherEndIsFarFromTheConfirmedCalendar(first: Int, last: Int) async throws {
        clock.isConfirmed = true
        let calendar = calendar()
        _ = try await calendar.today()
        let far = Duration.seconds(86_401)

        try await calendar.willStore([clock.wall + far * first...clock.wall + far * last])

        #expect(try await store.believed()?.doubts.isEmpty == (first == 0 && last == 0))
    }

    /// It confirms nothing, also not what is dated as it is.
    @Test func unconfirmedCalendar_doubtsWhateverIsStored() async throws {
        let long = Duration.seconds(90 * 86_400)
        let spans = [clock.wall...clock.wall, clock.wall + (.zero - long)...clock.wall + (.zero - long)]

        try await calendar().willStore(spans)

        let doubts = try #require(try await store.believed()).doubts
        #expect(doubts.allSatisfy { $0.confirmed == nil })
        for span in spans {
            #expect(doubts.contains { $0.first <= span.lowerBound && span.upperBound <= $0.last })
        }
    }

    /// Settings and their history are dated as well, and nobody says when.
    @Test func unconfirmedCalendar_isDoubted_alsoWhereNoReadingIsStored() async throws {
        _ = try await calendar().today()

        let doubts = try #require(try await store.believed()).doubts
        #expect(doubts.contains { $0.first <= clock.wall && clock.wall <= $0.last && $0.confirmed == nil })
    }

    /// What was set aside ages by a calendar that is confirmed and within a day of what the store believes.
    @Test func calendar_isConfirmed_withinADayOfTheBelievedDate() async throws {
        let day = Duration.seconds(86_400)
        for (behind, isNear) in [(.zero, true), (day, true), (day + .milliseconds(1), false)] {
            let store = MeterStore.temporary()
            // Time in which nothing was stored is skipped, and the believed date is that of the first reading after it.
            let first = clock.wall + (.zero - behind)
            try await store.save(BelievedDate(date: first + .milliseconds(-1)))
            try await store.append(chunks(at: first))
            for isConfirmed in [true, false] {
                clock.isConfirmed = isConfirmed
                let wall = isConfirmed && isNear ? clock.wall : nil
                #expect(await calendar(of: store).confirmed() == wall, "\(behind)")
            }
        }
    }

    @Test func startIn1970_keepsWhatItStored_forAsLongAsAnything() async throws {
        let real = clock.wall
        clock.wall = WallTime(millisecondsSince1970: 30_000)
        let calendar = calendar()
        try await store(at: clock.wall, by: calendar)
        #expect(try await prune(by: calendar).count == 1)

        clock.wall = real
        clock.isConfirmed = true
        // Measured before the calendar was corrected, and stored after it.
        try await store(at: WallTime(millisecondsSince1970: 60_000), by: calendar)
        for _ in 0..<300 {
            clock.run(.seconds(24 * 3600))
            _ = try await calendar.today()
        }
        #expect(try await prune(by: calendar).count == 2)
        for _ in 0..<70 {
            clock.run(.seconds(24 * 3600))
            _ = try await calendar.today()
        }
        #expect(try await prune(by: calendar) == [])
    }

    @Test func confirmedYearLongAbsence_ends_asSoonAsSomethingIsStored() async throws {
        clock.isConfirmed = true
        let first = clock.wall
        try await store(at: first, by: calendar())

        clock.wall = first + .seconds(500 * 86_400)
        let later = calendar()
        try await store(at: clock.wall, by: later)

        #expect(try await prune(by: later) == [clock.wall])
    }

    @Test func believedDate_isKept_andMovesADayAnHour() async throws {
        clock.isConfirmed = true
        let first = clock.wall
        for day in 0..<30 { try await store(at: first + .seconds(day * 86_400), by: calendar()) }
        try await store.save(BelievedDate(date: first))
        clock.wall = first + .seconds(29 * 86_400)
        let calendar = calendar()

        #expect(try await calendar.today() == first + .seconds(86_400))
        clock.run(.seconds(3600))
        #expect(try await calendar.today() == first + .seconds(3 * 86_400))
        #expect(try await store.believed()?.date == first + .seconds(3 * 86_400))
    }

    @Test func calendarWithoutConfirmation_isSaidOnce() async throws {
        let calendar = calendar()
        for _ in 0..<3 { _ = try await calendar.today() }

        #expect(log.entries.count { $0.message.hasPrefix("clock not confirmed") } == 1)
    }
}

/// Two clocks that a test sets.
private final class TestCalendar: Sendable {
    private struct State {
        var now = MonotonicTime(sinceOrigin: .seconds(100))
        var wall = WallTime(millisecondsSince1970: 1_790_000_000_000)
        var isConfirmed = false
    }

    private let state = Mutex(State())

    var now: MonotonicTime { state.withLock { $0.now } }
    var wall: WallTime {
        get { state.withLock { $0.wall } }
        set { state.withLock { $0.wall = newValue } }
    }
    var isConfirmed: Bool {
        get { state.withLock { $0.isConfirmed } }
        set { state.withLock { $0.isConfirmed = newValue } }
    }

    /// Lets both clocks run.
    func run(_ duration: Duration) {
        state.withLock { state in
            state.now = state.now + duration
            state.wall = state.wall + duration
        }
    }
}
