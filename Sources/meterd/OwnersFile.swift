import FoundationEssentials
import Glibc
import LinuxIO

/// A file error in words; nil for other errors.
func fileText(_ error: any Error) -> String? {
    switch error {
    case let error as Errno: error.words
    case let error as CocoaError where error.code == .fileReadCorruptFile: "it is not what was written"
    case let error as CocoaError where error.code == .fileReadNoPermission: "this user may not read it"
    case is CocoaError: "the system does not let it be read"
    default: nil
    }
}

/// A file that only its owner may read, with one value in human-readable JSON.
struct OwnersFile<Content: Codable>: Sendable {
    let path: String

    /// - Returns: the value, if the file exists.
    func read() throws -> Content? {
        guard access(path, F_OK) == 0 else { return nil }
        return try JSONDecoder().decode(Content.self, from: try Data(contentsOf: URL(filePath: path)))
    }

    /// On the disk when this returns, completely or not at all.
    func write(_ content: Content) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try WholeFile.replace(path, with: Array(try encoder.encode(content)))
    }

    /// Harmless if there is none.
    func remove() throws(Errno) {
        guard unlink(path) == 0 || errno == ENOENT else { throw Errno(errno) }
    }
}
