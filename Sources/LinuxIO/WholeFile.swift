import Glibc

/// Files that exist complete or not at all.
package enum WholeFile {
    /// Puts a file at `path`, replacing what may be there. It is on the disk when this returns; a crash before that
    /// leaves the old one.
    ///
    /// - Parameter mode: its permissions, whatever the old file had.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(Errno) {
        let new = path + ".new"
        // What a crash left of an earlier attempt, perhaps with another mode.
        _ = unlink(new)
        let file = try FileDescriptor(opening: new, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try Errno.check { rest.withUnsafeBytes { Glibc.write(file.raw, $0.baseAddress, $0.count) } }
            rest = rest.dropFirst(count)
        }
        try Errno.check { fsync(file.raw) }
        try Errno.check { rename(new, path) }
        let folder = try FileDescriptor(opening: path.parentFolder, O_RDONLY | O_DIRECTORY)
        try Errno.check { fsync(folder.raw) }
    }
}
