import CoreTestKit
import Domain
import MeterTestKit
import Synchronization
import Testing

@testable import LinuxIO

struct TimerHeapTests {
    private final class Log: Sendable {
        private let names = Mutex<[Int]>([])
        func add(_ name: Int) { names.withLock { $0.append(name) } }
        var all: [Int] { names.withLock { $0 } }
    }

    private func runAll(_ heap: inout TimerHeap, until time: Int64) {
        let limit = heap.nextNumber
        while let body = heap.popDue(at: time, addedBefore: limit) { body() }
    }

    @Test func due_comesInOrderOfTime_andOfAddingWhenEqual() {
        var heap = TimerHeap()
        let log = Log()
        for (name, time) in [(1, 30), (2, 10), (3, 20), (4, 10), (5, 40)] {
            _ = heap.add(at: Int64(time)) { log.add(name) }
        }

        runAll(&heap, until: 30)

        #expect(log.all == [2, 4, 3, 1])
        let earliest = heap.earliest()
        #expect(earliest == 40)
        #expect(heap.count == 1)
    }

    @Test func timerThatHasTime_comesWhenSomebodyLooks_orWhenItIsDue_andOnce() {
        var heap = TimerHeap()
        let log = Log()
        _ = heap.add(from: 10, at: 30) { log.add(1) }
        _ = heap.add(at: 20) { log.add(2) }
        _ = heap.add(from: 25, at: 40) { log.add(3) }
        let cancelled = heap.add(from: 0, at: 50) { log.add(4) }

        heap.cancel(cancelled)
        runAll(&heap, until: 9)
        #expect(log.all == [])
        runAll(&heap, until: 20)
        #expect(log.all == [2, 1])
        let due = heap.earliest()
        #expect(due == 40)
        runAll(&heap, until: 40)
        #expect(log.all == [2, 1, 3])
        runAll(&heap, until: 100)
        #expect(log.all == [2, 1, 3])
        #expect(heap.count == 0)
    }

    /// One that sets itself again waits for the next look.
    @Test func timerThatHasTime_addedMeanwhile_waitsForTheNextLook() {
        var heap = TimerHeap()
        let log = Log()
        let limit = heap.nextNumber
        _ = heap.add(from: 0, at: 9) { log.add(1) }
        let early = heap.popDue(at: 5, addedBefore: limit)
        #expect(early == nil)
        runAll(&heap, until: 5)
        #expect(log.all == [1])
    }

    @Test func cancelled_neverComes_andOnlyOnce() {
        var heap = TimerHeap()
        let log = Log()
        let first = heap.add(at: 1) { log.add(1) }
        _ = heap.add(at: 2) { log.add(2) }

        let cancelled = [heap.cancel(first), heap.cancel(first)]
        #expect(cancelled == [true, false])
        let earliest = heap.earliest()
        #expect(earliest == 2)
        runAll(&heap, until: 9)

        #expect(log.all == [2])
        let none = heap.earliest()
        #expect(none == nil)
    }

    @Test func oldTicket_doesNotCancelTheTimerThatTookItsPlace() {
        var heap = TimerHeap()
        let log = Log()
        let old = heap.add(at: 1) { log.add(1) }
        runAll(&heap, until: 1)
        _ = heap.add(at: 2) { log.add(2) }

        let cancelled = [heap.cancel(old), heap.cancel(LoopTimer(id: .max))]
        #expect(cancelled == [false, false])
        runAll(&heap, until: 2)

        #expect(log.all == [1, 2])
    }

    @Test func timerAddedMeanwhile_waitsForTheNextRound() {
        var heap = TimerHeap()
        let log = Log()
        _ = heap.add(at: 5) { log.add(1) }
        let limit = heap.nextNumber
        _ = heap.add(at: 1) { log.add(2) }

        let early = heap.popDue(at: 9, addedBefore: limit)
        #expect(early == nil)
        runAll(&heap, until: 9)

        #expect(log.all == [2, 1])
    }

    /// Against a list that is sorted each time, from a fixed seed.
    @Test func manyAddedAndCancelled_comeAsFromASortedList() throws {
        var heap = TimerHeap()
        var expected: [(time: Int64, name: Int)] = []
        var tickets: [Int: LoopTimer] = [:]
        let log = Log()
        var rng = SeededRNG(seed: 42)
        for name in 0..<5000 {
            let time = Int64(rng.below(1000))
            tickets[name] = heap.add(at: time) { log.add(name) }
            expected.append((time, name))
            // Two in three are taken back, so that the heap sweeps itself.
            if rng.below(3) > 0 {
                let victim = expected.remove(at: rng.below(expected.count))
                let ticket = try #require(tickets[victim.name])
                let wasWaiting = heap.cancel(ticket)
                #expect(wasWaiting)
            }
        }
        #expect(heap.count == expected.count)

        runAll(&heap, until: 1000)

        #expect(log.all == expected.sorted { ($0.time, $0.name) < ($1.time, $1.name) }.map(\.name))
    }
}
