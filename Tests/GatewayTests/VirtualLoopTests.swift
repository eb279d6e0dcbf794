import Domain
import Foundation
import MeterTestKit
import Synchronization
import Testing

/// The loop that the tests of this target rely on.
struct VirtualLoopTests {
    @Test func advance_waitsForItsTimers_whereAnotherThreadHasTheLoop() async throws {
        let loop = VirtualLoop()
        let isTaken = Atomic(false)
        let second = Atomic(false)
        _ = loop.schedule(at: .origin + .seconds(1)) {
            // Due as well, since a timer that ran before set it.
            _ = loop.schedule(at: .origin + .seconds(2)) { second.store(true, ordering: .releasing) }
        }
        let other = Task {
            loop.perform {
                isTaken.store(true, ordering: .releasing)
                // Until the other thread has passed its timer on, and for a while longer.
                for _ in 0..<10_000_000 { if loop.pendingTimers == 0 { break } }
                for _ in 0..<100_000 { _ = loop.now }
            }
        }
        try await eventually("the loop is busy") { isTaken.load(ordering: .acquiring) }

        loop.advance(by: .seconds(3))

        let hasRun = second.load(ordering: .acquiring)
        #expect(hasRun)
        await other.value
    }

    /// A thread that begins to use the loop between two timers takes over the next one: time does not go on without it.
    @Test func advance_leavesNoTimerBehind_whileAnotherThreadComesAndGoes() async throws {
        let loop = VirtualLoop()
        let ticks = Atomic(0)
        let turns = Atomic(0)
        let isOver = Atomic(false)
        @Sendable func tick() {
            ticks.add(1, ordering: .relaxed)
            _ = loop.schedule(at: loop.now + .milliseconds(1)) { tick() }
        }
        _ = loop.schedule(at: .origin + .milliseconds(1)) { tick() }
        // Of its own: one of those that all tests share would be missed while it spins.
        Thread.detachNewThread {
            // One piece of work at a time: more of them would keep the loop busy for ever.
            var asked = 0
            while !isOver.load(ordering: .acquiring) {
                asked += 1
                loop.perform { turns.add(1, ordering: .relaxed) }
                while turns.load(ordering: .relaxed) < asked {}
            }
        }
        try await eventually("the other thread comes and goes") { turns.load(ordering: .relaxed) > 100 }

        loop.advance(by: .seconds(5))

        isOver.store(true, ordering: .releasing)
        let count = ticks.load(ordering: .relaxed)
        #expect(count == 5000)
    }

    @Test func result_isThere_whereAnotherThreadHasTheLoop() async throws {
        let loop = VirtualLoop()
        let isTaken = Atomic(false)
        let isLeft = Atomic(false)
        Thread.detachNewThread {
            loop.perform {
                isTaken.store(true, ordering: .releasing)
                for _ in 0..<100_000 { _ = loop.now }
                isLeft.store(true, ordering: .releasing)
            }
        }
        try await eventually("the loop is busy") { isTaken.load(ordering: .acquiring) }

        let hasWaited = loop.result { isLeft.load(ordering: .acquiring) }

        #expect(hasWaited)
    }

    @Test func advance_doesNotWait_onItsOwnThread() {
        let loop = VirtualLoop()
        let ran = Atomic(false)
        _ = loop.schedule(at: .origin + .seconds(1)) { ran.store(true, ordering: .releasing) }

        loop.perform { loop.advance(by: .seconds(2)) }

        let hasRun = ran.load(ordering: .acquiring)
        #expect(hasRun)
    }
}
