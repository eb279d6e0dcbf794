import CloudAPI
import Domain

/// Which etcd to use, and how to connect to it.
package struct EtcdSettings: Sendable {
    /// `http://` or `https://`, host and port. Several are members of one etcd; any of them will do.
    package var urls: [String]
    /// Nil if etcd has no users.
    package var user: String?
    package var password: String
    /// A PEM file of certificates, one of which has signed the members'. Nil for those that the system trusts.
    package var authorities: String?
    /// PEM files of the client's certificate and key. etcd requires them if started with `--client-cert-auth`.
    package var certificate: String?
    package var key: String?
    /// The prefix of all keys.
    package var prefix: String
    /// How long one member may take to answer.
    package var answerTimeout: Duration
    /// How long all of them together may take: less than hosts wait, so that they learn why.
    package var patience: Duration

    package init(urls: [String], prefix: String = "metercloud/") {
        self.urls = urls
        self.prefix = prefix
        password = ""
        answerTimeout = .seconds(3)
        patience = .seconds(8)
    }

    /// Each member's address, without a trailing slash.
    ///
    /// - Throws: `badSetting` if one is malformed, there are none, or a password would cross a network unencrypted.
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
