import CloudAPI
import CloudClient
import Domain
import Gateway
import GatewayAPI

/// This host's cloud membership, with its access token, in a file that only its owner may read. It is not in the store,
/// because meterd needs it to refill a damaged store from the cloud.
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

        /// Nil if the pin is malformed.
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

    /// Returns nil if this host belongs to no cloud. Throws if the file exists but cannot be read.
    func read() throws(GatewayError) -> CloudMembership? {
        try file.read(next: "restore it, or remove it and join again: meterctl cloud join") { $0.membership }
    }

    /// Writes atomically, and waits until the file is on the disk.
    func write(_ membership: CloudMembership) throws(GatewayError) {
        try file.write(
            Content(membership), problem: "the membership cannot be written to \(path)", next: "join again")
    }

    /// Ended memberships, latest first: when this host rejoins a cloud, its old access token identifies it. Empty if
    /// the file is unreadable; the cloud's administrator can then help.
    var left: [CloudMembership] {
        (try? leftFile.read(next: "remove it") { $0.compactMap(\.membership) }) ?? []
    }

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
