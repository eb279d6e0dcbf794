/// Readings not yet delivered to the broker, oldest first, each with the time of measurement. When it is full, the
/// oldest is dropped and counted.
package struct Backlog: Sendable {
    package struct Entry: Hashable, Sendable {
        /// The order in which readings came, across all meters.
        package var number: UInt64
        package var message: BrokerMessage

        package init(number: UInt64, message: BrokerMessage) {
            self.number = number
            self.message = message
        }

        fileprivate var size: Int { message.topic.utf8.count + message.payload.count }
    }

    package struct Limits: Hashable, Sendable {
        package var entries = 10_000
        /// Most bytes of topics and payloads together.
        package var bytes = 4 << 20

        package init() {}
    }

    private let limits: Limits
    /// Entries before `first` have been removed.
    private var entries: [Entry] = []
    private var first = 0
    private var bytes = 0
    /// Number of readings dropped for lack of room.
    package private(set) var dropped = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { entries.count - first }
    package var isEmpty: Bool { count == 0 }

    /// Inserts an entry by its number, which is nearly always at the end.
    package mutating func add(_ entry: Entry) {
        var place = entries.endIndex
        while place > first, entries[place - 1].number > entry.number { place -= 1 }
        entries.insert(entry, at: place)
        bytes += entry.size
        while count > limits.entries || bytes > limits.bytes {
            removeFirst()
            dropped += 1
        }
    }

    /// Removes and returns the oldest.
    package mutating func next() -> Entry? { isEmpty ? nil : removeFirst() }

    @discardableResult
    private mutating func removeFirst() -> Entry {
        let entry = entries[first]
        first += 1
        bytes -= entry.size
        // Moving the rest now and then costs less than moving it each time.
        if first >= 64, first * 2 >= entries.count {
            entries.removeFirst(first)
            first = 0
        }
        return entry
    }
}
