/// Readings not yet delivered to the broker, oldest first. When it is full, the oldest is dropped and counted.
package struct Backlog: Sendable {
    package struct Entry: Hashable, Sendable {
        /// In order of arrival across all meters.
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
        /// Maximum bytes of topics and payloads together.
        package var bytes = 4 << 20

        package init() {}
    }

    private let limits: Limits
    /// A slice, because removing its first element is free.
    private var entries: ArraySlice<Entry> = []
    private var bytes = 0
    /// Number of readings dropped for lack of room.
    package private(set) var dropped = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    /// Inserts by number, nearly always at the end.
    package mutating func add(_ entry: Entry) {
        var place = entries.endIndex
        while place > entries.startIndex, entries[place - 1].number > entry.number { place -= 1 }
        entries.insert(entry, at: place)
        bytes += entry.size
        while count > limits.entries || bytes > limits.bytes {
            _ = next()
            dropped += 1
        }
    }

    package mutating func next() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        bytes -= entry.size
        // A slice keeps its removed elements alive with its buffer.
        if entries.isEmpty { entries = [] }
        return entry
    }
}
