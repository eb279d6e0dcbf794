import CloudAPI
import Domain

package struct EtcdSettings: Sendable {
    /// Addresses of one etcd's members: `http://` or `https://`, host and port. One reachable member is enough.
    package var urls: [String]
    /// Nil if etcd has no users.
    package var user: String?
    package var password: String
    /// PEM file of the authorities for the members' certificates; nil for the system's authorities.
    package var authorities: String?
    /// PEM files of the client's certificate and key, which etcd requires with `--client-cert-auth`.
    package var certificate: String?
    package var key: String?
    package var prefix: String
    /// Timeout of a request to one member.
    package var answerTimeout: Duration
    /// Timeout of a request to all members together: shorter than that of hosts, so that they receive the reason.
    package var patience: Duration

    package init(urls: [String], prefix: String = "metercloud/") {
        self.urls = urls
        self.prefix = prefix
        password = ""
        answerTimeout = .seconds(3)
        patience = .seconds(8)
    }

    /// Returns the addresses without trailing slashes.
    ///
    /// - Throws: `badSetting` if there is no address, one is malformed, or a password would cross a network
    ///   unencrypted.
    func addresses() throws(EtcdError) -> [String] {
        guard !urls.isEmpty else {
            throw EtcdError(.badSetting, "no address of etcd is given. One is http://127.0.0.1:2379")
        }
        var addresses: [String] = []
        for url in urls { addresses.append(try Self.address(url, hasPassword: user != nil)) }
        return addresses
    }

    private static func address(_ url: String, hasPassword: Bool) throws(EtcdError) -> String {
        let text = url.hasSuffix("/") ? String(url.dropLast()) : url
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let advice = "One is http://127.0.0.1:2379 or https://etcd1.example:2379"
        guard parts.count == 2, parts[0] == "http" || parts[0] == "https",
            !parts[1].contains(where: { "/?#@ \r\n\t".contains($0) }), let authority = URLAuthority(parts[1]),
            authority.port != nil
        else { throw EtcdError(.badSetting, "\"\(url)\" is not an address of etcd. \(advice)") }
        guard parts[0] == "https" || authority.isLoopback || !hasPassword else {
            throw EtcdError(
                .badSetting, "\(url) is not encrypted, and the password would cross the network. Use https")
        }
        return text
    }
}
