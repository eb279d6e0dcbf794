import Gateway
import StoreKit

extension StoreLock<StoreError> {
    init(storePath: String) throws(StoreError) {
        try self.init(
            storePath + ".lock", mode: 0o644, of: "the store \(storePath)", alternative: "another path",
            folder: "the folder")
    }
}
