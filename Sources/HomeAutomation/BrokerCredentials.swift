import Glibc
import LinuxIO

/// User and password for the broker, from a file of two lines, so that the password is not in a command line, log or
/// address.
package struct BrokerCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let user: String
    let password: String

    private static let sizeMax = 4096

    /// Reads the user from the first line, the password from the second.
    ///
    /// - Throws: if the file is unreadable, invalid, readable by other users, or writable by any user but its owner.
    package init(file path: String) throws(HomeAutomationError) {
        let bytes: [UInt8]
        let status: stat
        do throws(Errno) {
            // Open once, so that check and read use the same file. O_NONBLOCK prevents blocking on a pipe.
            let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
            status = try Self.status(of: file)
            bytes = status.st_mode & S_IFMT == S_IFREG ? try Self.read(file) : []
        } catch {
            throw HomeAutomationError(
                "the broker's credentials cannot be read from \(path): \(error.words)",
                next: "check the path, and that meterd's user may read it")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw HomeAutomationError(
                "\(path) is not a file", next: "name the file with the broker's user and password")
        }
        guard status.st_mode & 0o027 == 0 else {
            throw HomeAutomationError(
                "\(path) is open to others: a password is in it", next: "chmod 600 \(path), or 640 with meterd's group")
        }
        guard bytes.count <= Self.sizeMax, let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.malformed(path)
        }
        var lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
        while lines.last == "" { lines.removeLast() }
        guard lines.count == 2, !lines[0].isEmpty, !lines[1].isEmpty,
            !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\n" && $0 != "\r" })
        else { throw Self.malformed(path) }
        (user, password) = (lines[0], lines[1])
    }

    private static func malformed(_ path: String) -> HomeAutomationError {
        HomeAutomationError(
            "\(path) does not hold a user and a password",
            next: "the user goes in the first line, the password in the second")
    }

    private static func status(of file: FileDescriptor) throws(Errno) -> stat {
        var status = stat()
        try Errno.check { fstat(file.raw, &status) }
        return status
    }

    private static func read(_ file: FileDescriptor) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: sizeMax + 1)
        while bytes.count <= sizeMax {
            let count = try buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) -> Int? in
                try file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            guard let count, count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    package var description: String { "\(user), password <redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
