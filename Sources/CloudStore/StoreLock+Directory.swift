import Glibc
import LinuxIO
import StoreKit

extension StoreLock<CloudStoreError> {
    /// Locks `cloud.lock` in a data folder. Creates a missing folder for its owner only, because it contains the
    /// tokens' digests.
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
