import Domain
import Synchronization
import Testing

@testable import HomeAutomation

struct EventQueueTests {
    @Test func messages_areBounded_andTheRestIsCounted() {
        let queue = EventQueue {}

        for _ in 0..<1000 { queue.add(.received(BrokerMessage("t", "x")), of: 1) }
        queue.add(.acknowledged(1, refusal: nil), of: 1)
        queue.add(.lost(BrokerTrouble("gone")), of: 1)
        let (events, overrun) = queue.take()

        #expect(events.count == 64 + 2)
        #expect(overrun == 1000 - 64)
        #expect(queue.take().events.isEmpty)
    }

    @Test func wake_comesOnce_untilSomebodyTakes() {
        let wakes = Counter()
        let queue = EventQueue { wakes.add() }

        for number in 0..<10 { queue.add(.acknowledged(UInt64(number), refusal: nil), of: 1) }
        let first = wakes.count
        _ = queue.take()
        queue.add(.opened, of: 2)

        #expect(first == 1)
        #expect(wakes.count == 2)
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }
}
