import Domain
import Testing

@testable import LinuxIO

struct WriteQueueTests {
    private func next(_ queue: WriteQueue) -> [UInt8] { queue.withNext { Array($0) } }

    @Test func bytes_leaveInOrder_howeverManyAtATime() {
        var queue = WriteQueue(.stream)
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
        var queue = WriteQueue(.stream)
        let full = queue.append([UInt8](repeating: 0, count: WriteQueue.capacity))
        let more = queue.append([1])
        queue.removeFirst(1)
        let fits = queue.append([1])
        #expect([full, more, fits] == [true, false, true])
        #expect(queue.count == WriteQueue.capacity)
    }

    @Test func queueThatNeverEmpties_keepsItsOrder() {
        var queue = WriteQueue(.stream)
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

    @Test func packets_leaveOneByOne_whole() {
        var queue = WriteQueue(.packets)
        for packet in [[1, 2, 3], [], [4], [5, 6]] as [[UInt8]] { _ = queue.append(packet) }
        #expect(next(queue) == [1, 2, 3])
        // Whatever the line said that it took.
        queue.removeFirst(2)
        #expect(next(queue) == [4])
        queue.removeFirst(1)
        _ = queue.append([7])
        #expect(next(queue) == [5, 6])
        queue.removeFirst(2)
        #expect(next(queue) == [7])
        queue.removeFirst(1)
        #expect(queue.isEmpty)
    }

    /// A report that a device took late must not bring the next one upon it.
    @Test func gap_isCountedFromTheEndOfTheLastWrite() {
        var queue = WriteQueue(.packets, gap: .milliseconds(25))
        func time(_ milliseconds: Int) -> MonotonicTime { .origin + .milliseconds(milliseconds) }
        #expect(queue.pause(at: time(0)) == nil)
        // Begun at 0, ended at 60; ended again at 70.
        for end in [60, 70] {
            queue.wrote(at: time(end))
            #expect(queue.pause(at: time(end)) == time(end + 25))
            #expect(queue.pause(at: time(end + 24)) == time(end + 25))
            #expect(queue.pause(at: time(end + 25)) == nil)
        }
    }

    @Test func lineWithoutAGap_neverPauses() {
        var queue = WriteQueue(.packets)
        queue.wrote(at: .origin)
        #expect(queue.pause(at: .origin) == nil)
    }
}
