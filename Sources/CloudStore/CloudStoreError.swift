import Cloud
import CloudAPI
import StoreKit

package struct CloudStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case locked
        case readOnly = "read-only"
        /// The file is damaged, or not a store. It is not changed.
        case damaged
        /// A newer version wrote the file, which is not changed.
        case newerVersion = "newer-version"
        case diskFull = "disk-full"
        case departed
        case clockBehind = "clock-behind"
        case system
    }

    package var code: Code
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

    /// Failure for hosts; only the log contains details for the administrator.
    var failure: CloudFailure {
        switch code {
        case .damaged, .newerVersion, .departed, .clockBehind: CloudFailure(.internalError, message)
        case .locked, .readOnly, .diskFull, .system:
            CloudFailure(.serviceUnavailable, message, retryAfter: .seconds(10))
        }
    }
}
