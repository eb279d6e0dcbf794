import Testing

@testable import USBTransport

struct WriteQueueTests {
    private func next(_ queue: WriteQueue) -> [UInt8] { queue.withNext { Array($0) } }

    @Test func bytes_leaveInOrder_howeverManyAtATime() {
        var queue = WriteQueue()
        #expect(queue.isEmpty)
        _ = queue.append([1, 2, 3])
        _ = queue.append([4, 5])
        queue.removeFirst(2)
        #expect(next(queue) == [3, 4, 5])
        _ = queue.append([6])
        queue.removeFirst(4)
        #expect(queue.isEmpty)
        _ = queue.append([7])
        #expect(next(queue) == [7])
    }

    @Test func tooMuch_isRefusedWhole() {
        var queue = WriteQueue()
        let full = queue.append([UInt8](repeating: 0, count: WriteQueue.capacity))
        let more = queue.append([1])
        queue.removeFirst(1)
        let fits = queue.append([1])
        #expect([full, more, fits] == [true, false, true])
        #expect(queue.count == WriteQueue.capacity)
    }

    @Test func queueThatNeverEmpties_keepsItsOrder() {
        var queue = WriteQueue()
        var sent = 0
        var taken = 0
        for _ in 0..<200_000 {
            _ = queue.append([UInt8(truncatingIfNeeded: sent), UInt8(truncatingIfNeeded: sent + 1)])
            sent += 2
            while queue.count > 3 {
                #expect(queue.withNext { $0[0] } == UInt8(truncatingIfNeeded: taken))
                queue.removeFirst(1)
                taken += 1
            }
        }
        #expect(queue.count == 3)
    }
}
