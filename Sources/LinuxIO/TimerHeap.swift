import Domain

/// Timers by deadline, then in the order of addition.
///
/// A timer may also have a time before its deadline, from which it may run whenever the loop is awake.
///
/// Cancelling only marks a timer. Marked timers are removed at their deadline, or once they make up half of the heap.
struct TimerHeap {
    typealias Body = @Sendable () -> Void

    private(set) var count = 0
    /// Number of the next timer, in the upper bits of its ID.
    private(set) var nextNumber: UInt64 = 1
    private var heap: [Entry] = []
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// Timers that may run before their deadline. Short and unsorted.
    private var early: [Entry] = []

    /// Number of low bits of an ID that contain the slot; the other 40 contain the timer's number. This allows 16
    /// million timers at once, and 34 years of 1000 new ones a second.
    private static let slotBits: UInt64 = 24

    private struct Entry {
        var deadline: Int64
        var id: UInt64

        static func < (lhs: Entry, rhs: Entry) -> Bool {
            if lhs.deadline != rhs.deadline { return lhs.deadline < rhs.deadline }
            return lhs.id >> slotBits < rhs.id >> slotBits
        }
    }

    /// Place for a timer; `id` is 0 while it is free.
    private struct Slot {
        var id: UInt64
        var body: Body?
    }

    /// Times are in nanoseconds of the clock used with `popDue`.
    ///
    /// - Parameters:
    ///   - time: earliest time to run; nil for the deadline.
    ///   - deadline: latest time to run.
    mutating func add(from time: Int64? = nil, at deadline: Int64, _ body: @escaping Body) -> LoopTimer {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = slots.count
            precondition(slot < 1 << Self.slotBits, "More than 16 million timers at once: somebody leaks them")
            slots.append(Slot(id: 0, body: nil))
        }
        let id = nextNumber << Self.slotBits | UInt64(slot)
        nextNumber += 1
        slots[slot] = Slot(id: id, body: body)
        count += 1
        heap.append(Entry(deadline: deadline, id: id))
        siftUp(heap.count - 1)
        if let time { early.append(Entry(deadline: time, id: id)) }
        return LoopTimer(id: id)
    }

    /// Returns false if the timer has run or was already cancelled.
    @discardableResult
    mutating func cancel(_ timer: LoopTimer) -> Bool {
        guard release(timer.id) != nil else { return false }
        if heap.count > 64, heap.count > 2 * count { sweep() }
        return true
    }

    mutating func earliest() -> Int64? {
        while let first = heap.first {
            if isWaiting(first.id) { return first.deadline }
            removeFirst()
        }
        return nil
    }

    /// Removes the first timer that is due or may already run.
    ///
    /// - Parameter limit: `nextNumber` at an earlier moment. Ignoring newer timers prevents an endless loop if a timer
    ///   adds itself again.
    mutating func popDue(at now: Int64, addedBefore limit: UInt64) -> Body? {
        popFirst(at: now, addedBefore: limit) ?? popEarly(at: now, addedBefore: limit)
    }

    private mutating func popEarly(at now: Int64, addedBefore limit: UInt64) -> Body? {
        guard !early.isEmpty else { return nil }
        // Filtering copies the list and is rarely needed.
        if !early.allSatisfy({ isWaiting($0.id) }) { early = early.filter { isWaiting($0.id) } }
        guard let index = early.firstIndex(where: { $0.deadline <= now && $0.id >> Self.slotBits < limit }) else {
            return nil
        }
        return release(early.remove(at: index).id)
    }

    private mutating func popFirst(at now: Int64, addedBefore limit: UInt64) -> Body? {
        guard let deadline = earliest(), deadline <= now else { return nil }
        guard let first = heap.first, first.id >> Self.slotBits < limit else { return nil }
        removeFirst()
        return release(first.id)
    }

    private func isWaiting(_ id: UInt64) -> Bool {
        let slot = Int(id & (1 << Self.slotBits - 1))
        return slot < slots.count && slots[slot].id == id
    }

    private mutating func release(_ id: UInt64) -> Body? {
        guard isWaiting(id) else { return nil }
        let slot = Int(id & (1 << Self.slotBits - 1))
        let body = slots[slot].body
        slots[slot] = Slot(id: 0, body: nil)
        freeSlots.append(slot)
        count -= 1
        return body
    }

    private mutating func sweep() {
        let waiting = heap.filter { isWaiting($0.id) }
        heap = waiting
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index] < heap[parent] else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
