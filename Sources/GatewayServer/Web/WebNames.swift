import ServerKit

/// Names under which clients may request the web page, against DNS rebinding: a hostile page's name may resolve to this
/// machine, but its requests contain that name in `Host`.
package struct WebNames: Hashable, Sendable {
    private let names: Set<String>

    /// - Parameter names: this machine's name, and names from the configuration. `localhost`, loopback addresses and
    ///   the address at which the connection arrived are always allowed.
    package init(_ names: some Sequence<String>) {
        self.names = Set(names.compactMap { Self.host(in: $0) } + ["localhost"])
    }

    package static func isName(_ text: String) -> Bool {
        host(in: text) != nil && text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "/") }
            && (!text.contains(":") || IPAddress.bytes(of: text) != nil)
    }

    /// - Parameters:
    ///   - authority: the `Host` header, `name:port`.
    ///   - localAddress: this machine's address at which the connection arrived.
    package func admits(authority: String?, localAddress: String?) -> Bool {
        guard let authority, let host = Self.host(in: authority) else { return false }
        if names.contains(host) || IPAddress.isLoopback(host) { return true }
        guard let bytes = IPAddress.plainBytes(of: host), let localAddress else { return false }
        return IPAddress.plainBytes(of: localAddress) == bytes
    }

    /// Returns the host in `name`, `name:port`, `address:port` or `[address]:port`, in lower case and without a final
    /// dot; nil for any other text.
    static func host(in authority: String) -> String? {
        let text = authority.lowercased()
        var (host, port) = (text[...], text[text.endIndex...])
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            port = text[text.index(after: end)...]
            guard IPAddress.bytes(of: String(host))?.count == 16 else { return nil }
        } else if IPAddress.bytes(of: text) == nil, let colon = text.firstIndex(of: ":") {
            (host, port) = (text[..<colon], text[colon...])
        }
        guard port.isEmpty || (port.first == ":" && port.dropFirst().allSatisfy(\.isASCIIDigit)) else { return nil }
        if host.hasSuffix(".") { host = host.dropLast() }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        return String(host)
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
