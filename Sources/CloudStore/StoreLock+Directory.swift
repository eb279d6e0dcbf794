import Glibc
import LinuxIO
import StoreKit

extension StoreLock<CloudStoreError> {
    /// Locks the file `cloud.lock` in a data directory. Creates a missing directory that only its owner can open,
    /// because it contains the tokens' digests.
    init(directory: String) throws(CloudStoreError) {
        let folder = "the folder above it"
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw CloudStoreError(opening: directory, .last, folder: folder)
        }
        try self.init(
            directory + "/cloud.lock", mode: 0o600, of: "the data directory \(directory)",
            alternative: "another directory", folder: folder)
    }
}
