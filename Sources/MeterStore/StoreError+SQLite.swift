import GRDB
import Gateway

extension StoreError {
    /// - Parameters:
    ///   - path: the store's file.
    ///   - action: what could not be done to it: "opened", "written" …
    init(_ error: any Error, path: String, action: String) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.system, "the store \(path) cannot be \(action): \(error)")
            return
        }
        let code = Self.code(of: error)
        let reason = error.message ?? error.extendedResultCode.description
        self.init(
            code, "the store \(path) cannot be \(action): \(reason). \(Self.advice(code, error: error, action: action))"
        )
    }

    private static func code(of error: DatabaseError) -> Code {
        switch error.extendedResultCode {
        // The log's index needs a little room of its own, and reports the lack of it in its own way.
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

    private static func advice(_ code: Code, error: DatabaseError, action: String) -> String {
        switch code {
        case .locked: "Another program has it open; end that one, then try again"
        case .readOnly: "Let this user write to the file and its folder"
        case .damaged where action != "opened":
            "Start the program again: it then checks the whole file, and sets it aside if it is damaged"
        case .damaged: "It is left as it is; move it away, or restore it from a backup"
        case .diskFull: "Make room on the disk. What was stored before is safe"
        case .newerVersion: "Install the newer version again"
        case .system where error.resultCode == .SQLITE_CANTOPEN:
            "Check that the path names a file, in a folder that exists"
        case .system: "What was stored before is safe"
        }
    }
}
