import Domain

/// Commands that wait until the meter says that it took them.
struct ReadBacks {
    /// What a meter said of a command.
    enum Verdict: Hashable {
        case taken
        /// It is set to something else.
        case contradicted(MeterCommand)
        case unanswered
        case linkLost
    }

    private struct Entry {
        var command: MeterCommand
        /// What was heard before that is about something older.
        var isSent = false
        var verdict: Verdict?
        var waiter: CheckedContinuation<Verdict, Never>?
    }

    /// How often a command is sent, as misdoro/Electronic_load_px100 does.
    static let triesMax = 3
    /// How long the meter may take to be asked and to say. It is asked after half a second, and again where its answer is lost
    /// or doubtful.
    static let patience = Duration.seconds(4)

    private var entries: [Int: Entry] = [:]
    private var count = 0

    /// A command that is about to be sent.
    ///
    /// - Returns: the number by which the rest is about it, up to `forget`.
    mutating func expect(_ command: MeterCommand) -> Int {
        count += 1
        entries[count] = Entry(command: command)
        return count
    }

    mutating func sent(_ command: MeterCommand) {
        for number in entries.keys where entries[number]?.command == command { entries[number]?.isSent = true }
    }

    /// The meter says that it is as this command sets it.
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

    /// The first verdict counts.
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
