import Domain
import FoundationEssentials
import Gateway
import GatewayAPI
import Glibc
import LinuxIO

/// A file that only its owner may read, with one value in human-readable JSON.
struct OwnersFile<Content: Codable>: Sendable {
    let path: String
    /// The file's content as the end of a clause in messages: "how the web page is opened".
    let subject: String

    /// - Parameters:
    ///   - next: advice if the file exists but cannot be read.
    ///   - value: converts the content; nil if it is invalid.
    /// - Returns: nil if there is no file.
    func read<Value>(next: String, _ value: (Content) -> Value?) throws(GatewayError) -> Value? {
        guard access(path, F_OK) == 0 else { return nil }
        do {
            let content = try JSONDecoder().decode(Content.self, from: try Data(contentsOf: URL(filePath: path)))
            guard let value = value(content) else { throw CocoaError(.fileReadCorruptFile) }
            return value
        } catch {
            let reason = words(for: error, known: fileText)
            throw GatewayError(
                .internalError, "\(path), which says \(subject), cannot be read: \(reason)", next: next)
        }
    }

    /// Writes atomically, and waits until the file is on the disk.
    ///
    /// - Parameters:
    ///   - problem: error message, before the reason.
    ///   - next: end of the advice "make room or correct the folder's mode, then …".
    func write(_ content: Content, problem: String, next: String) throws(GatewayError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try WholeFile.replace(path, with: Array(try encoder.encode(content)))
        } catch {
            throw GatewayError(
                .internalError, "\(problem): \(words(for: error, known: fileText))",
                next: "make room or correct the folder's mode, then \(next)")
        }
    }

    /// - Parameter consequence: effect after a restart if the file cannot be removed.
    func remove(consequence: String) throws(GatewayError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw GatewayError(
            .internalError, "\(path) cannot be removed: \(Errno.last.words)",
            next: "remove it by hand, or \(consequence) after a restart")
    }
}

private func fileText(_ error: any Error) -> String? {
    switch error {
    case let error as Errno: error.words
    case let error as CocoaError where error.code == .fileReadCorruptFile: "it is not what was written"
    case let error as CocoaError where error.code == .fileReadNoPermission: "this user may not read it"
    case is CocoaError: "the system does not let it be read"
    default: nil
    }
}
