import MeterTestKit
import Synchronization
import Testing

@testable import Gateway

struct FlushTimerTests {
    private struct Beats {
        let loop = VirtualLoop()
        let timer: FlushTimer
        private let stream: AsyncStream<Void>

        init() {
            let (stream, wakeUp) = AsyncStream.makeStream(of: Void.self)
            self.stream = stream
            timer = FlushTimer(loop: loop, wakeUp: wakeUp)
        }

        /// Whether the recorder is woken, and whether that is due, each second.
        func pass(_ seconds: Int) -> [Int] {
            (1...seconds).filter { _ in
                loop.advance(by: .seconds(1))
                return timer.isDue()
            }
        }
    }

    @Test func beat_goesOn_andOneRetryComesInBetween() {
        let beats = Beats()
        #expect(!beats.timer.isDue())
        beats.timer.start(every: .seconds(10))
        beats.timer.retry(after: .seconds(3))
        beats.timer.retry(after: .seconds(1))
        #expect(beats.pass(25) == [3, 10, 20])
        beats.timer.retry(after: .seconds(2))
        #expect(beats.pass(6) == [2, 5])
        beats.timer.stop()
        beats.timer.retry(after: .seconds(2))
        #expect(beats.pass(30) == [])
        #expect(beats.loop.pendingTimers == 0)
    }

    @Test func serviceWithoutWork_isNotWoken_butRetries() {
        let beats = Beats()
        let hasWork = Atomic(false)
        beats.timer.start(every: .seconds(10)) { hasWork.load(ordering: .relaxed) }
        beats.timer.retry(after: .seconds(13))
        #expect(beats.pass(25) == [13])
        hasWork.store(true, ordering: .relaxed)
        #expect(beats.pass(10) == [5])
        beats.timer.stop()
    }

    @Test func stop_endsARetryToo() {
        let beats = Beats()
        beats.timer.start(every: .seconds(10))
        beats.timer.retry(after: .seconds(3))
        beats.timer.stop()
        #expect(beats.loop.pendingTimers == 0)
        #expect(beats.pass(30) == [])
    }
}
