import CoreTestKit
import Testing

@testable import BluetoothCore

struct OutgoingMessagesTests {
    /// Beside a queue of bytes: what goes out is what came in, in parts that are full unless their message ends, and what was
    /// taken makes room again.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func parts_areTheMessages_andRoomComesBack(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var messages = OutgoingMessages()
        var waiting: [[UInt8]] = []
        for _ in 0..<400 {
            #expect(messages.isEmpty == waiting.isEmpty, "seed \(seed)")
            if rng.below(2) == 0 {
                let message = rng.bytes([0, 1, 20, 20_000][rng.below(4)])
                let isTaken = waiting.reduce(0) { $0 + $1.count } + message.count <= OutgoingMessages.capacity
                #expect(messages.append(message) == isTaken, "seed \(seed)")
                if isTaken, !message.isEmpty { waiting.append(message) }
            } else {
                let limit = [-3, 0, 1, 20, 7000][rng.below(5)]
                let part = messages.next(atMost: limit)
                #expect(part == waiting.first.map { Array($0.prefix(max(1, limit))) }, "seed \(seed)")
                guard let part else { continue }
                waiting[0].removeFirst(part.count)
                if waiting[0].isEmpty { waiting.removeFirst() }
            }
        }
    }

    @Test func room_isExactlyItsCapacity_howeverOftenItWasFull() {
        var messages = OutgoingMessages()
        for _ in 0..<3 {
            #expect(messages.append([UInt8](repeating: 1, count: OutgoingMessages.capacity)) == true)
            #expect(messages.append([1]) == false)
            #expect(messages.append([]) == true)
            while messages.next(atMost: 4096) != nil {}
            #expect(messages.isEmpty)
        }
        #expect(messages.append([UInt8](repeating: 1, count: OutgoingMessages.capacity + 1)) == false)
    }
}
