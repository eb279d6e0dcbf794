import Gateway
import StoreKit

extension StoreLock<StoreError> {
    /// Locks the file `<store>.lock`.
    init(storePath: String) throws(StoreError) {
        try self.init(
            storePath + ".lock", mode: 0o644, of: "the store \(storePath)", alternative: "another path",
            folder: "the folder")
    }
}
