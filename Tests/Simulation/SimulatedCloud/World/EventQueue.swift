/// A moment that nobody in the simulation can read: microseconds since its beginning. Clocks are made from it.
package typealias TrueTime = Int64

extension TrueTime {
    package static let millisecond: TrueTime = 1000
    package static let second: TrueTime = 1_000_000
    package static let minute: TrueTime = 60_000_000
}

/// What happens next. Events of one moment come in the order in which they were added, so that a seed has one history.
package struct EventQueue<Event> {
    /// Small, because a heap moves its entries often; the events stay where they are.
    private struct Entry {
        var time: TrueTime
        var number: UInt64
        /// Of its event in `events`.
        var place: Int

        func isBefore(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
    }

    private var heap: [Entry] = []
    private var events: [Event?] = []
    private var freePlaces: [Int] = []
    private var count: UInt64 = 0

    package init() {}

    package mutating func add(_ event: Event, at time: TrueTime) {
        count += 1
        let place = freePlaces.popLast() ?? events.count
        if place == events.count { events.append(event) } else { events[place] = event }
        heap.append(Entry(time: time, number: count, place: place))
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    package mutating func next() -> (time: TrueTime, event: Event)? {
        guard let first = heap.first, let last = heap.popLast(), let event = events[first.place].take() else {
            return nil
        }
        freePlaces.append(first.place)
        if !heap.isEmpty { sink(last) }
        return (first.time, event)
    }

    /// Takes the place of the first.
    private mutating func sink(_ entry: Entry) {
        heap[0] = entry
        var parent = 0
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < heap.count, heap[left].isBefore(heap[least]) { least = left }
            if left + 1 < heap.count, heap[left + 1].isBefore(heap[least]) { least = left + 1 }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
