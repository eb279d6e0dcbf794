/// Readings not yet delivered to the broker, oldest first. A full backlog drops the oldest.
package struct Backlog: Sendable {
    package struct Entry: Hashable, Sendable {
        /// Order of arrival across all meters.
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
        /// Maximum total size of topics and payloads in bytes.
        package var bytes = 4 << 20

        package init() {}
    }

    private let limits: Limits
    /// A slice, because removing its first element is cheap.
    private var entries: ArraySlice<Entry> = []
    private var bytes = 0
    package private(set) var dropped = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    /// Inserts an entry in order of its number, nearly always at the end.
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
        // An empty slice would keep its removed elements in memory.
        if entries.isEmpty { entries = [] }
        return entry
    }
}
