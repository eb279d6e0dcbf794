import Domain

struct ReadBacks {
    enum Verdict: Hashable {
        case taken
        /// The meter reports another setting than the command's.
        case contradicted(MeterCommand)
        case unanswered
        case linkLost
    }

    private struct Entry {
        var command: MeterCommand
        /// Whether the command was sent. Until then, the meter's reports describe its earlier setting and are ignored.
        var isSent = false
        var verdict: Verdict?
        var waiter: CheckedContinuation<Verdict, Never>?
    }

    /// Attempts per command, as in misdoro/Electronic_load_px100.
    static let triesMax = 3
    /// Longest wait for a confirmation. meterd queries after half a second, and again after a lost answer.
    static let patience = Duration.seconds(4)

    private var entries: [Int: Entry] = [:]
    private var count = 0

    /// Registers a command before it is sent. Returns its number, valid until `forget`.
    mutating func expect(_ command: MeterCommand) -> Int {
        count += 1
        entries[count] = Entry(command: command)
        return count
    }

    mutating func sent(_ command: MeterCommand) {
        for number in entries.keys where entries[number]?.command == command { entries[number]?.isSent = true }
    }

    mutating func heard(_ found: MeterCommand) {
        for (number, entry) in entries where entry.isSent {
            if found == entry.command {
                end(number, with: .taken)
            } else if found.contradicts(entry.command) {
                end(number, with: .contradicted(found))
            }
        }
    }

    mutating func linkLost() {
        for number in entries.keys { end(number, with: .linkLost) }
    }

    /// Ends a wait for confirmation. Only the first verdict counts.
    mutating func end(_ number: Int, with verdict: Verdict) {
        guard entries[number] != nil, entries[number]?.verdict == nil else { return }
        entries[number]?.verdict = verdict
        entries[number]?.waiter.take()?.resume(returning: verdict)
    }

    mutating func wait(_ number: Int, _ waiter: CheckedContinuation<Verdict, Never>) {
        guard let verdict = entries[number]?.verdict else {
            entries[number]?.waiter = waiter
            return
        }
        waiter.resume(returning: verdict)
    }

    mutating func forget(_ number: Int) { entries[number] = nil }
}
