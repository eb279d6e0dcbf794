import Glibc

/// Files that exist complete or not at all, and are read at once.
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

    /// The text of a file of at most 1 MiB; nil if there is no such file.
    package static func text(_ path: String) throws(Errno) -> String? {
        let file: FileDescriptor
        do throws(Errno) {
            // A pipe must not block this.
            file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var length = 0
        while length < bytes.count {
            let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(Errno) -> Int? in
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[length...])
                return try file.read(into: UnsafeMutableRawBufferPointer(rest))
            }
            guard let count else { throw Errno(EAGAIN) }
            if count == 0 { return String(decoding: bytes.prefix(length), as: UTF8.self) }
            length += count
        }
        throw Errno(EFBIG)
    }
}
