import CloudAPI
package import Domain

package struct CloudAddress: Hashable, Sendable {
    package let text: String
    package let isEncrypted: Bool
    /// Name or address, without brackets.
    package let host: String

    /// - Throws: `badRequest` for a URL that is not http(s), or if a token would cross a network unencrypted.
    package init(_ text: String) throws(SyncFailure) {
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        let parts = trimmed.split(separator: "://", maxSplits: 1)
        guard parts.count == 2, !parts[1].contains(where: { "/?#@ ".contains($0) }) else {
            throw SyncFailure(.badRequest, "\"\(text)\" is not a cloud's address; one is https://host:8643")
        }
        guard let authority = URLAuthority(parts[1]) else {
            throw SyncFailure(.badRequest, "\"\(text)\" names no host, or no port; one is https://host:8643")
        }
        switch parts[0].lowercased() {
        case "https": isEncrypted = true
        case "http":
            guard authority.isLoopback else {
                throw SyncFailure(
                    .badRequest, "\(text) is not encrypted, and the token would cross the network: use https")
            }
            isEncrypted = false
        default: throw SyncFailure(.badRequest, "\"\(text)\" is not a cloud's address; one is https://host:8643")
        }
        self.text = trimmed
        host = authority.host
    }
}
