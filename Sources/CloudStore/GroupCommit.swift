import Cloud
import GRDB
import StoreKit
import Synchronization

/// Queue of all writes: many commands share one transaction, and therefore one wait for the disk.
///
/// While one transaction is being written, further commands gather; no command waits for others to arrive. Each command
/// has its own savepoint, so its failure does not undo the others. Answers are sent after the whole transaction is on
/// disk.
final class GroupCommit: Sendable {
    /// Maximum number of commands per transaction, because the first one waits for the last.
    static let commandsMax = 400
    static let weightMax = 2000

    private struct State {
        var pending: [any PendingWrite] = []
        var next = 0
        var isDraining = false
    }

    private let state = Mutex(State())
    private let commits = Atomic<UInt64>(0)
    private let commands = Atomic<UInt64>(0)
    private let pool: DatabasePool
    private let path: String
    private let leases: LeaseTable
    private let zones: ZoneTable

    init(pool: DatabasePool, path: String, leases: LeaseTable, zones: ZoneTable) {
        self.pool = pool
        self.path = path
        self.leases = leases
        self.zones = zones
    }

    var counts: (commits: UInt64, commands: UInt64) {
        (commits.load(ordering: .relaxed), commands.load(ordering: .relaxed))
    }

    /// Returns when the writes of `body` are on disk. Completes even if the task is cancelled.
    ///
    /// - Parameter weight: approximate number of rows written.
    func write<Value: Sendable>(
        weight: Int = 1, _ body: @escaping @Sendable (WriteBatch) throws -> Value
    ) async throws(CloudFailure) -> Value {
        let result: Result<Value, CloudFailure> = await withCheckedContinuation { continuation in
            enqueue(Command(weight: weight, body: body, path: path, continuation: continuation))
        }
        return try result.get()
    }

    private func enqueue(_ command: any PendingWrite) {
        let isFirst = state.withLock { state in
            state.pending.append(command)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if isFirst { pool.asyncWriteWithoutTransaction { [self] db in drain(db) } }
    }

    /// Returns the next command; nil if the queue is empty.
    ///
    /// - Parameter ends: whether an empty queue also ends `drain`, which the next command starts again.
    private func take(ends: Bool = false) -> (any PendingWrite)? {
        state.withLock { state in
            guard state.next < state.pending.count else {
                state.pending.removeAll(keepingCapacity: state.pending.count < 1000)
                state.next = 0
                if ends { state.isDraining = false }
                return nil
            }
            // Under continuous load `pending` is never empty, so remove finished commands here.
            if state.next >= Self.commandsMax {
                state.pending.removeFirst(state.next)
                state.next = 0
            }
            defer { state.next += 1 }
            return state.pending[state.next]
        }
    }

    private func drain(_ db: Database) {
        while let first = take(ends: true) {
            let batch = WriteBatch(db: db, leases: leases, zones: zones)
            var done: [any PendingWrite] = [first]
            do {
                try db.inTransaction(.immediate) {
                    try run(&done, in: batch)
                    return .commit
                }
                // Call this before any answer, because the client's next request must see the changes.
                batch.committed()
                commits.add(1, ordering: .relaxed)
                commands.add(UInt64(done.count), ordering: .relaxed)
                for command in done { command.finish(nil) }
            } catch {
                batch.rolledBack()
                for command in done { command.finish(error) }
            }
        }
    }

    private func run(_ done: inout [any PendingWrite], in batch: WriteBatch) throws {
        var weight = 0
        while let command = done.last {
            try command.run(batch)
            weight += command.weight
            guard done.count < Self.commandsMax, weight < Self.weightMax, let next = take() else { return }
            done.append(next)
        }
    }
}

private protocol PendingWrite: Sendable {
    var weight: Int { get }
    /// - Throws: only errors that end the whole transaction.
    func run(_ batch: WriteBatch) throws
    /// - Parameter error: failure of the whole transaction; nil on success.
    func finish(_ error: (any Error)?)
}

private final class Command<Value: Sendable>: PendingWrite {
    let weight: Int
    private let body: @Sendable (WriteBatch) throws -> Value
    private let path: String
    private let continuation: CheckedContinuation<Result<Value, CloudFailure>, Never>
    private let result = Mutex<Result<Value, any Error>?>(nil)

    init(
        weight: Int, body: @escaping @Sendable (WriteBatch) throws -> Value, path: String,
        continuation: CheckedContinuation<Result<Value, CloudFailure>, Never>
    ) {
        self.weight = weight
        self.body = body
        self.path = path
        self.continuation = continuation
    }

    func run(_ batch: WriteBatch) throws {
        do {
            var value: Value?
            try batch.inSavepoint { value = try body(batch) }
            result.withLock { $0 = value.map { .success($0) } }
        } catch {
            // Some errors, such as a full disk, roll back the whole transaction, so later commands would run without
            // one.
            guard batch.db.isInsideTransaction else { throw error }
            result.withLock { $0 = .failure(error) }
        }
    }

    func finish(_ error: (any Error)?) {
        let result = error.map { .failure($0) } ?? result.withLock { $0 } ?? .failure(CancellationError())
        continuation.resume(
            returning: result.mapError { error in
                error as? CloudFailure ?? CloudStoreError(error, path: path, action: "written").failure
            })
    }
}
