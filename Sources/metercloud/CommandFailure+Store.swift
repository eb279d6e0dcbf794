import CloudStore
import ProgramKit

extension CommandFailure {
    /// The store's error: what failed and, after a full stop, what to do, if there is anything.
    init(_ error: CloudStoreError) {
        let parts = error.message.split(separator: ". ", maxSplits: 1).map { String($0) }
        self.init(
            error.code == .readOnly ? .noPermission : .error, parts.first ?? error.message,
            next: parts.count == 2 ? parts[1] : "see Docs/Operating.md")
    }
}
