package import SyncCore

/// Where a cloud is, checked before anything is sent there.
package struct CloudAddress: Hashable, Sendable {
    /// Without a slash at its end.
    package let text: String
    package let isEncrypted: Bool
    /// Name or address, without brackets.
    package let host: String

    /// - Throws: `badRequest`, naming what is wrong: no http(s) URL, or a token that would cross a network in the clear.
    package init(_ text: String) throws(SyncFailure) {
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        let parts = trimmed.split(separator: "://", maxSplits: 1)
        guard parts.count == 2, !parts[1].contains(where: { "/?#@ ".contains($0) }) else {
            throw SyncFailure(.badRequest, "\"\(text)\" is no cloud's address; one is https://host:8643")
        }
        guard let host = Self.host(in: String(parts[1])) else {
            throw SyncFailure(.badRequest, "\"\(text)\" names no host, or no port; one is https://host:8643")
        }
        switch parts[0].lowercased() {
        case "https": isEncrypted = true
        case "http":
            guard Self.isLoopback(host) else {
                throw SyncFailure(
                    .badRequest, "\(text) is not encrypted, and the token would cross the network: use https")
            }
            isEncrypted = false
        default: throw SyncFailure(.badRequest, "\"\(text)\" is no cloud's address; one is https://host:8643")
        }
        self.text = trimmed
        self.host = host
    }

    /// nil where there is none, or where what follows it is no port.
    private static func host(in authority: String) -> String? {
        var host = authority.prefix { $0 != ":" }
        var rest = authority.dropFirst(host.count)
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[..<end].dropFirst()
            rest = authority[end...].dropFirst()
        }
        guard !host.isEmpty, rest.isEmpty || (rest.first == ":" && (UInt16(rest.dropFirst()) ?? 0) > 0) else {
            return nil
        }
        return String(host)
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}
