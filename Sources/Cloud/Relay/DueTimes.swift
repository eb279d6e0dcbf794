import Domain

/// Items by due time, with logarithmic cost.
struct DueTimes<Item> {
    private typealias Due = (time: MonotonicTime, item: Item)

    /// Binary heap: no item is due before its parent at `(index - 1) / 2`.
    private var heap: [Due] = []

    var count: Int { heap.count }

    mutating func add(_ item: Item, at time: MonotonicTime) {
        heap.append((time, item))
        var index = heap.count - 1
        while index > 0, heap[index].time < heap[(index - 1) / 2].time {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func next(by now: MonotonicTime) -> (time: MonotonicTime, item: Item)? {
        guard let first = heap.first, first.time <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while case let children = (2 * index + 1)..<min(2 * index + 3, max(heap.count, 2 * index + 1)),
            let least = children.min(by: { heap[$0].time < heap[$1].time }), heap[least].time < heap[index].time
        {
            heap.swapAt(index, least)
            index = least
        }
        return first
    }

    mutating func keep(where isKept: (Item, MonotonicTime) -> Bool) {
        let kept = heap.filter { isKept($0.item, $0.time) }
        heap = []
        for due in kept { add(due.item, at: due.time) }
    }
}
