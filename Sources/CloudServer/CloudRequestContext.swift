package import Hummingbird
import NIOCore

/// What is known about one request.
package struct CloudRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// Whose requests without a token are counted together: an IPv4 address, or the network of an IPv6 address, of
    /// which one machine has as many addresses as it likes.
    package let address: String

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = Self.network(of: source.channel.remoteAddress)
    }

    static func network(of address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "local" }
        guard let bytes = IPAddress.bytes(of: text), bytes.count == 16 else { return text }
        // An IPv4 address as a socket for both kinds shows it.
        if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            return IPAddress.text(of: Array(bytes.suffix(4))) ?? text
        }
        let words = stride(from: 0, to: 8, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        return words.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }
}
