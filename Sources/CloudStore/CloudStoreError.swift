import Cloud
import CloudAPI
import GRDB

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

extension CloudStoreError {
    /// - Parameters:
    ///   - path: the store's file.
    ///   - action: what could not be done with it: "opened", "written" …
    init(_ error: any Error, path: String, action: String) {
        if let error = error as? CloudStoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.system, "the store \(path) cannot be \(action): \(error)")
            return
        }
        let code = Self.code(of: error)
        let reason = error.message ?? error.extendedResultCode.description
        self.init(code, "the store \(path) cannot be \(action): \(reason). \(Self.advice(code, error: error))")
    }

    private static func code(of error: DatabaseError) -> Code {
        switch error.extendedResultCode {
        // The log's index needs a little room of its own, and reports its lack in its own way.
        case .SQLITE_IOERR_SHMSIZE: return .diskFull
        case .SQLITE_CANTOPEN_DIRTYWAL: return .readOnly
        default: break
        }
        return switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: .locked
        case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damaged
        case .SQLITE_FULL: .diskFull
        default: .system
        }
    }

    private static func advice(_ code: Code, error: DatabaseError) -> String {
        switch code {
        case .locked: "Another program has it open; end that one, then try again"
        case .readOnly: "Let this user write to the file and its folder"
        case .damaged: "It is left as it is; restore it from a backup"
        case .diskFull: "Make room on the disk. What was stored before is safe"
        case .newerVersion: "Install the newer version again"
        case .departed: "Serve the store that it went to"
        case .clockBehind: "Set this machine's clock"
        case .system where error.resultCode == .SQLITE_CANTOPEN:
            "Check that the path names a file, in a folder that exists"
        case .system: "What was stored before is safe"
        }
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
