import CloudAPI
import CloudClient
import FoundationEssentials
import Gateway
import GatewayAPI
import Glibc

/// The cloud that this host belongs to, in a file of its own that only its owner may read, because it holds the token.
///
/// Not in the store: a damaged store is set aside and filled anew from the cloud, for which the membership is needed.
struct MembershipFile: Sendable {
    let path: String

    private struct Content: Codable {
        var urls: [String]
        var zone: String
        var token: String
        var pin: String?
    }

    /// - Returns: nil where this host belongs to none.
    /// - Throws: where the file is there and cannot be read.
    func read() throws(GatewayError) -> CloudMembership? {
        guard access(path, F_OK) == 0 else { return nil }
        do {
            let content = try JSONDecoder().decode(Content.self, from: try Data(contentsOf: URL(filePath: path)))
            if let pin = content.pin, CertificatePin(pin) == nil { throw CocoaError(.fileReadCorruptFile) }
            return CloudMembership(
                urls: content.urls, zone: content.zone, token: Secret(content.token),
                pin: content.pin.flatMap { CertificatePin($0) })
        } catch {
            throw GatewayError(
                .internalError, "\(path), which says what cloud this host belongs to, cannot be read: \(error)",
                next: "restore it, or remove it and join again: meterctl cloud join")
        }
    }

    /// On the disk when this returns, in whole or not at all.
    func write(_ membership: CloudMembership) throws(GatewayError) {
        let content = Content(
            urls: membership.urls, zone: membership.zone, token: membership.token.text,
            pin: membership.pin?.description)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try replace(with: Array(try encoder.encode(content)))
        } catch {
            throw GatewayError(
                .internalError, "the membership cannot be written to \(path): \(error)",
                next: "make room or correct the folder's mode, then join again")
        }
    }

    func remove() throws(GatewayError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw GatewayError(
                .internalError, "\(path) cannot be removed: \(String(cString: strerror(errno)))",
                next: "remove it by hand, or this host belongs to the cloud again after a restart")
        }
    }

    private func replace(with bytes: [UInt8]) throws {
        let new = path + ".new"
        // What a crash left of an earlier attempt, perhaps with another mode.
        _ = unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileFailure(errno) }
        defer { close(file) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw FileFailure(errno) }
            written += max(0, count)
        }
        guard fsync(file) == 0, rename(new, path) == 0 else { throw FileFailure(errno) }
        let folder = open(path.parentFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw FileFailure(errno) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw FileFailure(errno) }
    }

    private struct FileFailure: Error, CustomStringConvertible {
        let description: String

        init(_ code: Int32) { description = String(cString: strerror(code)) }
    }
}

extension String {
    /// The folder that a path is in.
    var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
