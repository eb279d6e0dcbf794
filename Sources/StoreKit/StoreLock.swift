import LinuxIO

/// Prevents a second process from using the same store, with a lock on a file beside it. Other tools can read the
/// store's own file.
package struct StoreLock<Failure: StoreFileError>: Sendable {
    private let file: LockFile

    /// - Parameters:
    ///   - mode: mode for creating the lock's file, as for open(2).
    ///   - store: description for people: "the store /var/lib/…".
    ///   - alternative: suggestion if the store is in use: "another path".
    ///   - folder: description of the missing folder, for the advice: "the folder".
    package init(
        _ path: String, mode: UInt32, of store: String, alternative: String, folder: String
    ) throws(Failure) {
        do throws(LockFile.Refusal) {
            file = try LockFile(path, mode: mode)
        } catch {
            switch error {
            case .held(let owner):
                let holder = owner.map { "process \($0)" } ?? "another process"
                throw Failure(
                    .locked, "\(store) is in use by \(holder). End that one first, or give \(alternative)")
            case .unlockable(let reason):
                throw Failure(.system, "\(store) cannot be locked: \(reason)")
            case .unopened(let reason):
                throw Failure(opening: path, reason, folder: folder)
            }
        }
    }

    /// Repeated calls have no effect.
    package func release() { file.release() }
}
