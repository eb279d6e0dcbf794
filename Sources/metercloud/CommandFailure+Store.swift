import CloudStore
import ProgramKit

extension CommandFailure {
    /// Splits the store's message into the failure and the advice after a full stop, if any.
    init(_ error: CloudStoreError) {
        let parts = error.message.split(separator: ". ", maxSplits: 1).map { String($0) }
        self.init(
            error.code == .readOnly ? .noPermission : .error, parts.first ?? error.message,
            next: parts.count == 2 ? parts[1] : "see Docs/Operating.md")
    }
}
