import CloudAPI
import CloudClient
import Domain
import Gateway
import GatewayAPI

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

        init(_ membership: CloudMembership) {
            (urls, zone, token) = (membership.urls, membership.zone, membership.token.text)
            pin = membership.pin?.description
            bringsAll = membership.bringsAll ? true : nil
        }

        /// Nil if the pin cannot be read.
        var membership: CloudMembership? {
            let pin = pin.flatMap { CertificatePin($0) }
            guard self.pin == nil || pin != nil else { return nil }
            return CloudMembership(
                urls: urls, zone: zone, token: Secret(token), pin: pin, bringsAll: bringsAll ?? false)
        }
    }

    private var file: OwnersFile<Content> { OwnersFile(path: path, subject: "what cloud this host belongs to") }

    private var leftFile: OwnersFile<[Content]> {
        OwnersFile(path: path + ".left", subject: "what clouds this host left")
    }

    /// - Returns: nil if this host belongs to no cloud.
    /// - Throws: if the file exists but cannot be read.
    func read() throws(GatewayError) -> CloudMembership? {
        try file.read(next: "restore it, or remove it and join again: meterctl cloud join") { $0.membership }
    }

    /// On the disk when this returns, completely or not at all.
    func write(_ membership: CloudMembership) throws(GatewayError) {
        try file.write(
            Content(membership), problem: "the membership cannot be written to \(path)", next: "join again")
    }

    /// Memberships that ended, the latest first: their tokens show a cloud that the host comes back. Empty if the file
    /// cannot be read; the cloud's administrator can help then.
    var left: [CloudMembership] {
        (try? leftFile.read(next: "remove it") { $0.compactMap(\.membership) }) ?? []
    }

    /// Keeps the token of a membership that ends.
    func addLeft(_ membership: CloudMembership) throws(GatewayError) {
        let others = left.filter {
            $0.zone != membership.zone || !$0.isOfCloud(at: membership.urls, pin: membership.pin)
        }
        try leftFile.write(
            ([membership] + others.prefix(CloudLimits.oldTokens - 1)).map(Content.init),
            problem: "what this host left cannot be written to \(leftFile.path)", next: "leave again")
    }

    func remove() throws(GatewayError) { try file.remove(consequence: "this host belongs to the cloud again") }
}
