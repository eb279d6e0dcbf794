import Glibc
import NIOCore
import ProgramKit
import Synchronization

/// A file sent in parts, to limit memory use. Standard input is first copied to an unnamed file, because meterd needs
/// the length to detect a truncated upload.
final class UploadFile: Sendable {
    let label: String
    let length: Int64
    /// First part of the file, at most 64 kB; cut after a whole line if the file is longer.
    let beginning: ArraySlice<UInt8>
    private let descriptor: Int32

    private static let pieceBytes = 64 << 10

    /// - Parameter path: `-` for standard input.
    init(path: String) throws {
        label = path == "-" ? "standard input" : path
        let failed = CommandFailure(.error, "\(label) cannot be read", next: "check the path and its mode")
        let opened = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw failed }
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw failed }
        if status.st_mode & S_IFMT == S_IFREG {
            descriptor = opened
        } else {
            defer { if opened != STDIN_FILENO { close(opened) } }
            descriptor = try Self.spool(opened, label)
            guard fstat(descriptor, &status) == 0 else { throw failed }
        }
        length = Int64(status.st_size)
        var first = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = pread(descriptor, &first, first.count, 0)
        guard count >= 0 else { throw failed }
        guard count > 0 else {
            throw CommandFailure(.error, "\(label) is empty", next: "name a file that has readings")
        }
        let isWhole = Int64(count) == length
        let end = isWhole ? count : (first[..<count].lastIndex(of: UInt8(ascii: "\n")) ?? count - 1) + 1
        beginning = first[..<end]
    }

    deinit { close(descriptor) }

    private static func spool(_ input: Int32, _ label: String) throws -> Int32 {
        guard let file = tmpfile() else {
            throw CommandFailure(.error, "\(label) cannot be copied to /tmp", next: "free some room in /tmp")
        }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: pieceBytes)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(.error, "\(label) cannot be read", next: "name a file instead")
            }
            guard count > 0 else { break }
            guard fwrite(buffer, 1, count, file) == count else {
                throw CommandFailure(.error, "\(label) cannot be copied to /tmp", next: "free some room in /tmp")
            }
        }
        guard fflush(file) == 0, case let copy = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0), copy >= 0 else {
            throw CommandFailure(.error, "\(label) cannot be copied to /tmp", next: "free some room in /tmp")
        }
        return copy
    }

    /// - Parameter onProgress: called with the fraction read so far, 0 to 1.
    func pieces(_ onProgress: @escaping @Sendable (Double) -> Void) -> Pieces {
        Pieces(file: self, onProgress: onProgress)
    }

    struct Pieces: AsyncSequence, Sendable {
        let file: UploadFile
        let onProgress: @Sendable (Double) -> Void

        struct AsyncIterator: AsyncIteratorProtocol {
            let pieces: Pieces
            var offset: Int64 = 0

            mutating func next() async throws -> ByteBuffer? {
                let file = pieces.file
                guard offset < file.length else { return nil }
                var bytes = [UInt8](
                    repeating: 0, count: Int(Swift.min(Int64(UploadFile.pieceBytes), file.length - offset)))
                let count = pread(file.descriptor, &bytes, bytes.count, off_t(offset))
                guard count > 0 else {
                    throw CommandFailure(
                        .error, "\(file.label) became shorter while it was read", next: "import it when it is whole")
                }
                offset += Int64(count)
                pieces.onProgress(Double(offset) / Double(file.length))
                return ByteBuffer(bytes: bytes[..<count])
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
    }
}
