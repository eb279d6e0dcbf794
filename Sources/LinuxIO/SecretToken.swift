import Glibc

/// A token or key from a file that others must not read. Printed as redacted.
package struct SecretToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret. Use it only in the code that sends it.
    package let text: String

    private static let sizeMax = 1024

    package struct Problem: Error {
        package var message: String
    }

    /// Reads the first line of the file at `path`.
    ///
    /// - Parameter what: name of the secret in messages.
    /// - Throws: if the file is unreadable, invalid, readable by other users, or writable by any user but its owner.
    package init(file path: String, of what: String = "token") throws(Problem) {
        let line: Substring?
        do throws(Errno) {
            // Open once, so that check and read use the same file. O_NONBLOCK prevents blocking on a pipe.
            let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
            var status = stat()
            try Errno.check { fstat(file.raw, &status) }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o027 == 0 else {
                throw Errno(EACCES)
            }
            var bytes = [UInt8](repeating: 0, count: Self.sizeMax)
            let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(Errno) -> Int? in
                try file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            line =
                String(validating: bytes.prefix(count ?? 0), as: UTF8.self)?
                .split(separator: "\n", omittingEmptySubsequences: false).first
        } catch {
            let why = error.code == EACCES ? "it is not a file that meterd alone may read (chmod 600)" : error.words
            throw Problem(message: "the \(what) cannot be read from \(path): \(why)")
        }
        let token = line.map { String($0.filter { !$0.isWhitespace }) } ?? ""
        guard !token.isEmpty, token.utf8.allSatisfy({ 0x21..<0x7F ~= $0 }) else {
            throw Problem(message: "\(path) has no \(what) in its first line")
        }
        text = token
    }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
