import CloudAPI
import CloudClient
import Gateway
import GatewayAPI
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

    private var file: OwnersFile<Content> { OwnersFile(path: path, subject: "what cloud this host belongs to") }

    /// - Returns: nil if this host belongs to no cloud.
    /// - Throws: if the file exists but cannot be read.
    func read() throws(GatewayError) -> CloudMembership? {
        try file.read(next: "restore it, or remove it and join again: meterctl cloud join") { content in
            let pin = content.pin.flatMap { CertificatePin($0) }
            guard content.pin == nil || pin != nil else { return nil }
            return CloudMembership(
                urls: content.urls, zone: content.zone, token: Secret(content.token), pin: pin,
                bringsAll: content.bringsAll ?? false)
        }
    }

    /// On the disk when this returns, completely or not at all.
    func write(_ membership: CloudMembership) throws(GatewayError) {
        let content = Content(
            urls: membership.urls, zone: membership.zone, token: membership.token.text,
            pin: membership.pin?.description, bringsAll: membership.bringsAll ? true : nil)
        try file.write(content, problem: "the membership cannot be written to \(path)", next: "join again")
    }

    func remove() throws(GatewayError) { try file.remove(consequence: "this host belongs to the cloud again") }
}
