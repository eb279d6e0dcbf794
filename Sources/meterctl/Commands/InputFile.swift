import Glibc
import ProgramKit

enum InputFile {
    static func bytes(of path: String) throws -> [UInt8] {
        guard path != "-" else {
            guard let bytes = bytes(from: 0) else {
                throw CommandFailure(.error, "standard input cannot be read", next: "name a file instead")
            }
            return bytes
        }
        // Read the file as a stream, so that a pipe of the shell, <(…), works too.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, let bytes = bytes(from: descriptor) else {
            throw CommandFailure(.error, "\(path) cannot be read", next: "check the path and its mode")
        }
        return bytes
    }

    private static func bytes(from descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<count]
            } else if count == 0 {
                return bytes
            } else if errno != EINTR {
                return nil
            }
        }
    }
}
