package import GRDB
import Glibc
package import LinuxIO

/// Error of a store in a SQLite file, with the same messages for all stores.
package protocol StoreFileError: Error {
    associatedtype Code: StoreFileErrorCode

    init(_ code: Code, _ message: String)

    /// Returns the remedy for a damaged file. `action` is the failed action: "opened", "written" …
    static func adviceIfDamaged(_ action: String) -> String
}

package protocol StoreFileErrorCode: Equatable {
    static var locked: Self { get }
    static var readOnly: Self { get }
    static var damaged: Self { get }
    static var diskFull: Self { get }
    static var system: Self { get }
}

extension StoreFileError {
    /// - Parameters:
    ///   - error: the cause; an error of this type is kept unchanged.
    ///   - action: the failed action: "opened", "written" …
    package init(_ error: any Error, path: String, action: String) {
        if let error = error as? Self {
            self = error
            return
        }
        if let reason = error as? Errno {
            self.init(path: path, action: action, reason.code, text: "\(reason)")
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.system, "the store \(path) cannot be \(action): \(error)")
            return
        }
        let code = Code(error)
        let reason = error.message ?? error.extendedResultCode.description
        let advice = Self.advice(code, error: error, action: action)
        self.init(code, "the store \(path) cannot be \(action): \(reason). \(advice)")
    }

    private static func advice(_ code: Code, error: DatabaseError, action: String) -> String {
        switch code {
        case .locked: "Another program has it open; end that one, then try again"
        case .readOnly: "Let this user write to the file and its folder"
        case .damaged: adviceIfDamaged(action)
        case .diskFull: "Make room on the disk. What was stored before is safe"
        default:
            error.resultCode == .SQLITE_CANTOPEN
                ? "Check that the path names a file, in a folder that exists" : "What was stored before is safe"
        }
    }

    /// - Parameter folder: description of the missing folder, for the advice: "the folder above it".
    package init(opening path: String, _ reason: Errno, folder: String) {
        switch reason.code {
        case ENOENT, ENOTDIR: self.init(.system, "\(path) cannot be made: \(reason). Make \(folder) first")
        case EACCES, EPERM, EROFS, ENOSPC, EDQUOT:
            self.init(path: path, action: "written", reason.code, text: "\(reason)")
        default: self.init(.system, "\(path) cannot be opened: \(reason)")
        }
    }

    /// - Parameter action: the failed action: "renamed", "removed" …
    package init(path: String, action: String, _ code: Int32, text: String) {
        let problem = "\(path) cannot be \(action): \(text)"
        switch code {
        case EACCES, EPERM, EROFS: self.init(.readOnly, "\(problem). Let this user write to the folder")
        case ENOSPC, EDQUOT: self.init(.diskFull, "\(problem). Make room on the disk")
        default: self.init(.system, problem)
        }
    }
}

extension StoreFileErrorCode {
    package init(_ error: DatabaseError) {
        self =
            switch error.extendedResultCode {
            // SQLite's code if the disk has no room for the index of the write-ahead log.
            case .SQLITE_IOERR_SHMSIZE: .diskFull
            case .SQLITE_CANTOPEN_DIRTYWAL: .readOnly
            default: Self(primary: error.resultCode)
            }
    }

    private init(primary code: ResultCode) {
        self =
            switch code {
            case .SQLITE_BUSY, .SQLITE_LOCKED: .locked
            case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damaged
            case .SQLITE_FULL: .diskFull
            default: .system
            }
    }
}
