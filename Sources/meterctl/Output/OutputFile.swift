import Glibc
import LinuxIO
import ProgramKit

/// Output to a file or to standard output. A full disk is an error, because a truncated file would look complete.
struct OutputFile: Sendable {
    /// Nil for standard output.
    private let descriptor: Int32?
    private let path: String

    /// - Parameters:
    ///   - path: `-` for standard output.
    ///   - isPrivate: whether only the owner may read a new file.
    init(path: String, isPrivate: Bool = false) throws {
        self.path = path
        guard path != "-" else {
            descriptor = nil
            return
        }
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
        guard number >= 0 else { throw Self.failure(Errno(errno), path) }
        descriptor = number
    }

    func write(bytes: some Sequence<UInt8>) throws {
        guard let descriptor else { return Terminal.data(bytes: bytes) }
        do throws(Errno) {
            try DescriptorWriter.write(bytes: bytes, to: descriptor)
        } catch {
            throw Self.failure(error, path)
        }
    }

    func write(_ line: String) throws {
        guard let descriptor else { return Terminal.exact(line) }
        do throws(Errno) {
            try DescriptorWriter.write(line + "\n", to: descriptor)
        } catch {
            throw Self.failure(error, path)
        }
    }

    private static func failure(_ error: Errno, _ path: String) -> CommandFailure {
        CommandFailure(.error, "\(path) cannot be written: \(error)", next: "choose another file")
    }
}
