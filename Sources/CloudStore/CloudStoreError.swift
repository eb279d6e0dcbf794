import Cloud
import CloudAPI
import StoreKit

/// Why the cloud's store cannot be opened, used, backed up or restored.
package struct CloudStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// Another program, or another cloud, is using it.
        case locked
        case readOnly = "read-only"
        /// The file is damaged, or is something else. It is left as it is.
        case damaged
        /// A newer version of this program wrote it. It is left as it is.
        case newerVersion = "newer-version"
        case diskFull = "disk-full"
        /// Everything in it moved to another store.
        case departed
        /// This machine's calendar is behind the backup.
        case clockBehind = "clock-behind"
        case system
    }

    package var code: Code
    /// What failed, with which file, and what to do.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

extension CloudStoreError.Code: StoreFileErrorCode {}

extension CloudStoreError: StoreFileError {
    package static func adviceIfDamaged(_ action: String) -> String {
        "It is left as it is; restore it from a backup"
    }

    /// The failure as reported to a host. What helps only the administrator stays in the log.
    var failure: CloudFailure {
        switch code {
        case .damaged, .newerVersion, .departed, .clockBehind: CloudFailure(.internalError, message)
        case .locked, .readOnly, .diskFull, .system:
            CloudFailure(.serviceUnavailable, message, retryAfter: .seconds(10))
        }
    }
}
