/// Notices on their way, in a queue for each of those that are told, so that one that hangs delays no other. What could not
/// be delivered is tried again with growing pauses for a day.
///
/// A queue keeps its order: that something is over never arrives before that it began.
package struct AlertOutbox: Sendable {
    /// Most notices that wait for one of those that are told; the oldest that is not under way gives way.
    static let queueMax = 100
    /// How long a notice is tried.
    package static let patience = Duration.seconds(24 * 3600)
    static let firstPause = Duration.seconds(5)
    static let longestPause = Duration.seconds(900)

    package struct Entry: Hashable, Sendable {
        /// Greater than that of every earlier entry of this host.
        package var number: Int64
        package var target: String
        package var notice: AlertNotice

        package init(number: Int64, target: String, notice: AlertNotice) {
            self.number = number
            self.target = target
            self.notice = notice
        }
    }

    /// What became of an attempt.
    package enum Ending: Hashable, Sendable {
        case delivered(Entry)
        /// It is tried again after the pause.
        case putOff(Entry, Duration)
        case givenUp(Entry)
    }

    /// What is shown of one of those that are told.
    package struct Figures: Hashable, Sendable {
        package var waiting = 0
        package var delivered = 0
        /// Given up, refused, or dropped for lack of room, since the start.
        package var lost = 0
        /// Why the last attempt failed; nil once one succeeded.
        package var error: String?

        package init() {}
    }

    private struct Queue: Sendable {
        var waiting: [(entry: Entry, until: MonotonicTime)] = []
        /// Whether the first one is under way.
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

    /// - Parameter age: how long ago it happened, of one that an earlier run left.
    /// - Returns: the entry that was dropped for lack of room, if one was.
    package mutating func add(_ entry: Entry, age: Duration = .zero, at now: MonotonicTime) -> Entry? {
        var queue = queues[entry.target] ?? Queue()
        defer { queues[entry.target] = queue }
        queue.waiting.append((entry, now + Self.patience - max(.zero, age)))
        guard queue.waiting.count > Self.queueMax else { return nil }
        queue.figures.lost += 1
        return queue.waiting.remove(at: queue.isSending ? 1 : 0).entry
    }

    /// What is to be sent now: the first of each queue that neither sends nor pauses.
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

    /// An attempt is over. Nil if it is not known any more.
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

    /// Drops what waits of a rule, but for what is under way.
    ///
    /// - Returns: the numbers of what was dropped.
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
