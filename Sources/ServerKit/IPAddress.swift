import Glibc
package import NIOCore

package enum IPAddress {
    /// Returns the 4 or 16 bytes of an IP address; nil for any other text.
    package static func bytes(of text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    /// Returns the 4 or 16 bytes of an IP address; nil for any other text. `::ffff:…` (IPv4 on a dual-stack socket) has
    /// 4.
    package static func plainBytes(of text: String) -> [UInt8]? {
        guard let bytes = bytes(of: text) else { return nil }
        return bytes.count == 16 && Array(bytes.prefix(12)) == mappedPrefix ? Array(bytes.suffix(4)) : bytes
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Formats an IP address like `inet_ntop`; nil unless there are 4 or 16 bytes.
    package static func text(of bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether only this machine can reach the host: `127.0.0.0/8`, `::1` and `localhost`.
    package static func isLoopback(_ host: String) -> Bool {
        guard let bytes = plainBytes(of: host) else { return host.lowercased() == "localhost" }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Whether the host means all addresses of this machine: `0.0.0.0` and `::`.
    package static func isAny(_ host: String) -> Bool { bytes(of: host)?.allSatisfy { $0 == 0 } ?? false }

    package static func authority(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Parses `host:port`, `[address]:port`, or a port alone for all addresses; nil for anything else.
    package static func hostAndPort(_ text: String) -> (host: String, port: Int)? {
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? text[...]
        var host = colon.map { String(text[..<$0]) } ?? "0.0.0.0"
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard let port = Int(digits), (0...65_535).contains(port), !host.isEmpty, !host.contains(" ") else {
            return nil
        }
        return (host, port)
    }

    /// Returns the name under which clients are counted together: an IPv4 address, an IPv6 /64 network, or "local"
    /// without an IP address.
    package static func network(of address: SocketAddress?) -> String {
        guard let text = address?.ipAddress, let bytes = plainBytes(of: text) else { return "local" }
        guard bytes.count == 16 else { return Self.text(of: bytes) ?? text }
        let words = stride(from: 0, to: 8, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        return words.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }

    /// Returns this machine's addresses, except loopback and link-local ones.
    package static func ofThisMachine() -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [String] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, let bytes = bytes(of: address), isReachable(bytes) else {
                continue
            }
            if let text = text(of: bytes), !found.contains(text) { found.append(text) }
        }
        return found
    }

    private static func bytes(of address: UnsafeMutablePointer<sockaddr>) -> [UInt8]? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
        case AF_INET6:
            return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
        default: return nil
        }
    }

    private static func isReachable(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 4 { return bytes[0] != 127 && !(bytes[0] == 169 && bytes[1] == 254) }
        let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        return !isLinkLocal && bytes.prefix(15).contains { $0 != 0 }
    }
}
