import CloudAPI
import CloudClient
import FoundationEssentials
import Gateway
import GatewayAPI
import LinuxIO
import MeterModel

/// The cloud that this host belongs to, in a separate file that only its owner may read, because it holds the token.
///
/// Not in the store: a damaged store is set aside and refilled from the cloud, which needs the membership.
struct MembershipFile: Sendable {
    let path: String

    private struct Content: Codable {
        var urls: [String]
        var zone: String
        var token: String
        var pin: String?
        var bringsAll: Bool?
    }

    private var file: OwnersFile<Content> { OwnersFile(path: path) }

    /// - Returns: nil if this host belongs to no cloud.
    /// - Throws: if the file exists but cannot be read.
    func read() throws(GatewayError) -> CloudMembership? {
        do {
            guard let content = try file.read() else { return nil }
            if let pin = content.pin, CertificatePin(pin) == nil { throw CocoaError(.fileReadCorruptFile) }
            return CloudMembership(
                urls: content.urls, zone: content.zone, token: Secret(content.token),
                pin: content.pin.flatMap { CertificatePin($0) }, bringsAll: content.bringsAll ?? false)
        } catch {
            throw GatewayError(
                .internalError,
                "\(path), which says what cloud this host belongs to, cannot be read: "
                    + words(for: error, known: fileText),
                next: "restore it, or remove it and join again: meterctl cloud join")
        }
    }

    /// On the disk when this returns, completely or not at all.
    func write(_ membership: CloudMembership) throws(GatewayError) {
        let content = Content(
            urls: membership.urls, zone: membership.zone, token: membership.token.text,
            pin: membership.pin?.description, bringsAll: membership.bringsAll ? true : nil)
        do {
            try file.write(content)
        } catch {
            throw GatewayError(
                .internalError,
                "the membership cannot be written to \(path): \(words(for: error, known: fileText))",
                next: "make room or correct the folder's mode, then join again")
        }
    }

    func remove() throws(GatewayError) {
        do throws(Errno) {
            try file.remove()
        } catch {
            throw GatewayError(
                .internalError, "\(path) cannot be removed: \(error.words)",
                next: "remove it by hand, or this host belongs to the cloud again after a restart")
        }
    }
}
