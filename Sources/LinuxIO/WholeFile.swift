import Glibc

/// Files that are written atomically and read in one piece.
package enum WholeFile {
    /// Replaces the file at `path`. The new file is on the disk when this returns; if the system crashes before, the
    /// old file remains.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(Errno) {
        let new = path + ".new"
        // Remove a crashed attempt's leftover file, which may have another mode.
        _ = unlink(new)
        let file = try FileDescriptor(opening: new, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try Errno.check { rest.withUnsafeBytes { Glibc.write(file.raw, $0.baseAddress, $0.count) } }
            rest = rest.dropFirst(count)
        }
        try Errno.check { fsync(file.raw) }
        try Errno.check { rename(new, path) }
        try sync(path.parentFolder)
    }

    /// Waits until a file, or a folder's list of names, is on the disk.
    package static func sync(_ path: String) throws(Errno) {
        let file = try FileDescriptor(opening: path, O_RDONLY)
        try Errno.check { fsync(file.raw) }
    }

    /// Returns the text of a file of at most 1 MiB; nil if it does not exist.
    package static func text(_ path: String) throws(Errno) -> String? {
        try bytes(path, atMost: 1 << 20).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Nil if the file does not exist. Throws `EFBIG` if it is longer than `limit`.
    static func bytes(_ path: String, atMost limit: Int) throws(Errno) -> [UInt8]? {
        let file: FileDescriptor
        do throws(Errno) {
            // O_NONBLOCK prevents blocking on a pipe.
            file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while all.count <= limit {
            let count = try chunk.withUnsafeMutableBufferPointer { buffer throws(Errno) in
                try file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            guard let count else { throw Errno(EAGAIN) }
            guard count > 0 else { return all }
            all += chunk.prefix(count)
        }
        throw Errno(EFBIG)
    }
}
