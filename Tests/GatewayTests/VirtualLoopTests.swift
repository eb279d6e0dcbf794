import MeterModel
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

    @Test func advance_doesNotWait_onItsOwnThread() {
        let loop = VirtualLoop()
        let ran = Atomic(false)
        _ = loop.schedule(at: .origin + .seconds(1)) { ran.store(true, ordering: .releasing) }

        loop.perform { loop.advance(by: .seconds(2)) }

        let hasRun = ran.load(ordering: .acquiring)
        #expect(hasRun)
    }
}
