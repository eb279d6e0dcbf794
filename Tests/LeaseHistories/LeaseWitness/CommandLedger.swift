package import CloudAPI
package import Domain

/// What holders did because others commanded it, and what the authors heard of it, in any order: by whichever copy of the
/// cloud a command and its repeats went, and whoever had the meter by then.
package struct CommandLedger: Sendable {
    package enum Event: Hashable, Sendable {
        /// A holder's claim was granted, and it acted.
        case did(RequestID)
        /// - Parameters:
        ///   - isRepeat: whether the request had been sent before.
        ///   - isLate: whether its author knew that the meter had changed hands.
        case heard(RequestID, RelayCommandAnswer.Outcome, isRepeat: Bool, isLate: Bool)
    }

    private var done: [RequestID: Int] = [:]
    private var heard: [RequestID: Set<RelayCommandAnswer.Outcome>] = [:]
    /// Repeats that heard that the command was done, and how many of them came after a change of hands.
    package private(set) var (repeats, lateRepeats) = (0, 0)

    /// Of no command.
    package init() {}

    /// Number of commands that were done.
    package var count: Int { done.count }

    /// Takes note of it.
    package mutating func add(_ event: Event) {
        switch event {
        case .did(let id): done[id, default: 0] += 1
        case .heard(let id, let outcome, let isRepeat, let isLate):
            heard[id, default: []].insert(outcome)
            guard outcome == .done else { break }
            if isRepeat { repeats += 1 }
            if isLate { lateRepeats += 1 }
        }
    }

    /// What is wrong; nil if nothing is. A command whose outcome is not known may have been done.
    package var complaint: String? {
        for (id, count) in done {
            if count > 1 { return "the command \(id) was done \(count) times" }
            if heard[id]?.isDisjoint(with: [.notDone, .refused]) == false {
                return "the command \(id) was done, and its author heard that it was not"
            }
        }
        let invented = heard.first { done[$0.key] == nil && $0.value.contains(.done) }
        return invented.map { "nobody did the command \($0.key), and its author heard that it was done" }
    }
}
