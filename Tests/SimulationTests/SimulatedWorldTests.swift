import Domain
import Testing

@testable import SimulatedCloud

/// The parts of the simulated world: a double that lies proves nothing.
struct SimulatedWorldTests {
    @Test func queue_givesEventsInOrder_andThoseOfOneMomentAsTheyCame() {
        var queue = EventQueue<Int>()
        for (event, time) in [(1, 30), (2, 10), (3, 20), (4, 10), (5, 30)] { queue.add(event, at: TrueTime(time)) }

        var events: [Int] = []
        while let next = queue.next() { events.append(next.event) }

        #expect(events == [2, 4, 3, 1, 5])
    }

    @Test func crash_keepsWhatWasSynced_andAPrefixOfTheRest() {
        var survivors: Set<Int> = []
        for seed in 0..<50 as Range<UInt64> {
            var rng = SimulationRNG(seed: seed)
            var store = CrashStore(0)
            store.commit { $0 = 1 }
            store.sync()
            store.commit { $0 = 2 }
            store.commit { $0 = 3 }
            store.crash(&rng)
            survivors.insert(store.value)
        }
        #expect(survivors == [1, 2, 3])
    }

    @Test func clock_findsTheTrueTime_atWhichItShowsAMoment() {
        var clock = SimulatedClock(rate: 900, wallError: 0, wallTick: 1)
        let moment = clock.now(at: 0) + .seconds(108)
        let time = clock.trueTime(of: moment)
        #expect(time >= 120 * .second && time <= 120 * .second + 3)
        #expect(clock.now(at: time) >= moment)

        clock.changeRate(to: 1100, at: 60 * .second)
        let sooner = clock.trueTime(of: moment)
        #expect(sooner < time)
        #expect(clock.now(at: sooner) >= moment)
    }

    @Test func wallClock_ticksCoarsely_andSteps() {
        var clock = SimulatedClock(rate: 1000, wallError: 0, wallTick: 1000)
        let before = clock.wall(at: 1_500_000).millisecondsSince1970
        clock.stepWall(by: -90_000)
        let after = clock.wall(at: 1_500_000).millisecondsSince1970
        #expect(before == SimulatedClock.calendarOrigin + 1000)
        #expect(after == before - 90_000)
    }

    @Test func link_losesAtMostOne_inItsWindow() {
        var rng = SimulationRNG(seed: 1)
        var link = SimulatedLink(lossPermille: 1000, doublePermille: 0, slowPermille: 0, slowest: 1)
        link.oneLossPer = 10 * .second
        let arrived = (0..<20).map { !link.send(.up, at: TrueTime($0) * .second, &rng).isEmpty }
        #expect(arrived.count { !$0 } == 2)
    }

    @Test func link_losesEverything_whereItIsCut() {
        var rng = SimulationRNG(seed: 1)
        var link = SimulatedLink(lossPermille: 0, doublePermille: 0, slowPermille: 0, slowest: 1)
        link.isUpCut = true
        #expect(link.send(.up, at: 0, &rng).isEmpty)
        #expect(!link.send(.down, at: 0, &rng).isEmpty)
    }

    /// A cloud that was killed before it answered may have kept the deletion; purged, it is seen nowhere at the end.
    @Test func judge_knowsTheDeletion_thatACrashLeftWithoutAnAnswer() {
        var rng = SimulationRNG(seed: 1)
        let host = HostID(using: &rng)
        func stamp(_ milliseconds: UInt64) -> Stamp { Stamp(milliseconds: milliseconds, counter: 0, host: host) }
        let key = RecordKey(type: .host, name: "r0")
        var zone = CloudZone(name: "home")
        let deletion = SyncRecord(key: key, deletion: Deletion(stamp: stamp(2)))
        zone.records[key] = CloudZone.Stored(record: deletion, sequence: 1)

        for survives in [true, false] {
            var judge = Judge(meters: 0)
            judge.acknowledges(.int(1), of: key, "name", stamp: stamp(1), by: 0, in: 0)
            if survives { judge.survived([zone]) }
            judge.forgot([key])
            judge.judgeEnd([[:]], whereabouts: [0])
            #expect((judge.violation == nil) == survives)
        }
    }
}
