/// Notices in one queue per target, so that a hanging target delays no other. Failed deliveries are retried with
/// growing pauses.
///
/// A queue keeps its order: the end of an alert never arrives before its start.
package struct AlertOutbox: Sendable {
    /// Maximum notices per target. A full queue drops the oldest notice that is not being sent.
    static let queueMax = 100
    /// Maximum age of a retried notice.
    package static let patience = Duration.seconds(24 * 3600)
    static let firstPause = Duration.seconds(5)
    static let longestPause = Duration.seconds(900)

    package struct Entry: Hashable, Sendable {
        /// Sequence number, ascending on this host.
        package var number: Int64
        package var target: String
        package var notice: AlertNotice

        package init(number: Int64, target: String, notice: AlertNotice) {
            self.number = number
            self.target = target
            self.notice = notice
        }
    }

    package enum Ending: Hashable, Sendable {
        case delivered(Entry)
        /// The delivery failed. The duration is the pause before the retry.
        case putOff(Entry, Duration)
        case givenUp(Entry)
    }

    package struct Figures: Hashable, Sendable {
        package var waiting = 0
        package var delivered = 0
        /// Notices that expired, were refused, or did not fit into the queue, since the start.
        package var lost = 0
        /// Error of the last attempt; nil after a success.
        package var error: String?

        package init() {}
    }

    private struct Queue: Sendable {
        var waiting: [(entry: Entry, until: MonotonicTime)] = []
        var isSending = false
        var retryAt: MonotonicTime?
        var pause = AlertOutbox.firstPause
        var figures = Figures()
    }

    private var queues: [String: Queue] = [:]

    package init() {}

    package func figures(of target: String) -> Figures {
        guard let queue = queues[target] else { return Figures() }
        var figures = queue.figures
        figures.waiting = queue.waiting.count
        return figures
    }

    package var isEmpty: Bool { queues.values.allSatisfy(\.waiting.isEmpty) }

    /// - Parameter age: age of an entry from an earlier process.
    /// - Returns: the entry dropped because the queue was full, if any.
    package mutating func add(_ entry: Entry, age: Duration = .zero, at now: MonotonicTime) -> Entry? {
        var queue = queues[entry.target] ?? Queue()
        defer { queues[entry.target] = queue }
        queue.waiting.append((entry, now + Self.patience - max(.zero, age)))
        guard queue.waiting.count > Self.queueMax else { return nil }
        queue.figures.lost += 1
        return queue.waiting.remove(at: queue.isSending ? 1 : 0).entry
    }

    /// Returns the first entry of each queue, except queues that are sending or waiting for a retry.
    package mutating func due(at now: MonotonicTime) -> [Entry] {
        var entries: [Entry] = []
        for target in queues.keys.sorted() {
            guard var queue = queues[target], !queue.isSending, let first = queue.waiting.first,
                queue.retryAt.map({ $0 <= now }) ?? true
            else { continue }
            queue.isSending = true
            queues[target] = queue
            entries.append(first.entry)
        }
        return entries
    }

    /// Handles a delivery's end; nil if the entry has been removed meanwhile.
    package mutating func ended(_ entry: Entry, _ delivery: AlertDelivery, at now: MonotonicTime) -> Ending? {
        guard var queue = queues[entry.target], queue.isSending, let first = queue.waiting.first,
            first.entry.number == entry.number
        else { return nil }
        defer { queues[entry.target] = queue }
        queue.isSending = false
        switch delivery {
        case .delivered:
            queue.waiting.removeFirst()
            queue.figures.delivered += 1
            queue.figures.error = nil
            (queue.pause, queue.retryAt) = (Self.firstPause, nil)
            return .delivered(entry)
        case .refused(let why):
            queue.waiting.removeFirst()
            queue.figures.lost += 1
            queue.figures.error = why
            (queue.pause, queue.retryAt) = (Self.firstPause, nil)
            return .givenUp(entry)
        case .failed(let why):
            queue.figures.error = why
            let pause = queue.pause
            queue.pause = min(queue.pause * 2, Self.longestPause)
            queue.retryAt = now + pause
            guard now < first.until else {
                queue.waiting.removeFirst()
                queue.figures.lost += 1
                return .givenUp(entry)
            }
            return .putOff(entry, pause)
        }
    }

    /// Removes a rule's entries, except those being sent. Returns their numbers.
    package mutating func remove(_ rule: AlertID) -> [Int64] {
        var numbers: [Int64] = []
        for target in queues.keys {
            guard var queue = queues[target] else { continue }
            let kept = queue.waiting.enumerated().filter { offset, waiting in
                waiting.entry.notice.rule != rule || (offset == 0 && queue.isSending)
            }.map(\.element)
            let keptNumbers = Set(kept.map(\.entry.number))
            numbers += queue.waiting.map(\.entry.number).filter { !keptNumbers.contains($0) }
            queue.waiting = kept
            queues[target] = queue
        }
        return numbers.sorted()
    }
}
