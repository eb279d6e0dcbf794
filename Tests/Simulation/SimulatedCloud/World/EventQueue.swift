/// A moment that nobody in the simulation can read: microseconds since its beginning. Clocks are made from it.
package typealias TrueTime = Int64

extension TrueTime {
    static let millisecond: TrueTime = 1000
    static let second: TrueTime = 1_000_000
    static let minute: TrueTime = 60_000_000
}

/// What happens next. Events of one moment come in the order in which they were added, so that a seed has one history.
struct EventQueue<Event> {
    private struct Entry {
        var time: TrueTime
        var number: UInt64
        var event: Event

        func isBefore(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
    }

    private var heap: [Entry] = []
    private var count: UInt64 = 0

    var nextTime: TrueTime? { heap.first?.time }

    mutating func add(_ event: Event, at time: TrueTime) {
        count += 1
        heap.append(Entry(time: time, number: count, event: event))
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> (time: TrueTime, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return (first.time, first.event) }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[least])
            {
                least = child
            }
            guard least != parent else { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return (first.time, first.event)
    }
}
