/// Host and optional port of a URL, without a user: `host`, `host:port` or `[address]:port` (RFC 3986, 3.2).
package struct URLAuthority: Hashable, Sendable {
    /// Name or address, without brackets.
    package let host: String
    package let port: UInt16?

    package init?(_ text: some StringProtocol) {
        let text = String(text)
        var host = text.prefix { $0 != ":" }
        var rest = text.dropFirst(host.count)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[..<end].dropFirst()
            rest = text[end...].dropFirst()
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.first == ":", let number = UInt16(rest.dropFirst()), number > 0 else { return nil }
        port = number
    }

    /// Whether messages to this host remain on this machine; false for names that only begin like a loopback address.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}
