import Domain
import Gateway
import GatewayAPI
import GatewayServer

/// Settings of the web page's network access, in a file that only its owner may read.
struct WebOpeningFile: WebOpeningRepository {
    let path: String

    private struct Content: Codable {
        var host: String
        var port: Int
        /// SHA-256 of the access token in hex. The token itself is not stored.
        var token_sha256: String
        var login_key: String
        /// Authentication codes of logins that were ended early, with their expiry in milliseconds since 1970; nil in
        /// older files.
        var ended_logins: [String: Int64]?
    }

    private var file: OwnersFile<Content> { OwnersFile(path: path, subject: "how the web page is opened") }

    func read() throws(GatewayError) -> WebOpening? {
        try file.read(next: "open it anew: meterctl web enable") { content in
            guard let hash = Hex.decode(content.token_sha256), let key = Hex.decode(content.login_key),
                hash.count == 32, key.count == 32, (1...65_535).contains(content.port)
            else { return nil }
            return WebOpening(
                host: content.host, port: content.port,
                credentials: WebCredentials(tokenHash: hash, key: key, ended: content.ended_logins ?? [:]))
        }
    }

    /// Writes atomically, and waits until the file is on the disk.
    func write(_ opening: WebOpening) throws(GatewayError) {
        let content = Content(
            host: opening.host, port: opening.port, token_sha256: Hex.encode(opening.credentials.tokenHash),
            login_key: Hex.encode(opening.credentials.key), ended_logins: opening.credentials.ended)
        try file.write(content, problem: "\(path) cannot be written", next: "try again")
    }

    func remove() throws(GatewayError) { try file.remove(consequence: "the page is open again") }
}
