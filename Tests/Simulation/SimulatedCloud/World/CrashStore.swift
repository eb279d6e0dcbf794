/// A store that a crash takes back to some state between what was last synced and what was last committed.
///
/// Each commit is atomic: a crash leaves all of it or nothing, and never a later commit without an earlier one.
struct CrashStore<Value> {
    private(set) var value: Value
    private var durable: Value
    /// Commits since the last sync, oldest first.
    private var unsynced: [Value] = []

    init(_ value: Value) {
        self.value = value
        durable = value
    }

    var hasUnsynced: Bool { !unsynced.isEmpty }

    mutating func commit<Result>(_ transaction: (inout Value) -> Result) -> Result {
        let result = transaction(&value)
        unsynced.append(value)
        return result
    }

    /// Takes the last commit back, as if the process had been killed before it.
    mutating func undo() {
        unsynced.removeLast()
        value = unsynced.last ?? durable
    }

    /// Changes what need not survive.
    mutating func touch(_ change: (inout Value) -> Void) { change(&value) }

    mutating func sync() {
        durable = value
        unsynced.removeAll(keepingCapacity: true)
    }

    /// - Parameter rng: picks one of the states that the crash may leave.
    mutating func crash(_ rng: inout SimulationRNG) {
        let survivors = rng.number(below: unsynced.count + 1)
        value = survivors == 0 ? durable : unsynced[survivors - 1]
        durable = value
        unsynced.removeAll()
    }

    /// Another content, as from a backup.
    mutating func replace(with value: Value) {
        self.value = value
        durable = value
        unsynced.removeAll()
    }
}
