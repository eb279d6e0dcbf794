import CloudAPI

/// The broker's address: `mqtt://host[:port]` or, over TLS, `mqtts://host[:port]`.
package struct BrokerAddress: Hashable, Sendable, CustomStringConvertible {
    /// Host name or address, without brackets.
    package let host: String
    package let port: UInt16
    package let isEncrypted: Bool
    package let isLoopback: Bool

    /// Ports assigned by IANA.
    private static let ports: (plain: UInt16, encrypted: UInt16) = (1883, 8883)

    package init(_ text: String) throws(HomeAutomationError) {
        let example = "it takes mqtts://host or, on this machine, mqtt://localhost"
        let schemes = [("mqtt://", false), ("mqtts://", true)]
        guard let (scheme, isEncrypted) = schemes.first(where: { text.lowercased().hasPrefix($0.0) }) else {
            // Do not repeat the address: it may contain a user and a password.
            throw HomeAutomationError(
                "the broker's address begins neither with mqtt:// nor with mqtts://", next: example)
        }
        var rest = text.dropFirst(scheme.count)
        guard !rest.contains("@") else {
            throw HomeAutomationError(
                "the broker's address has a user in it", next: "user and password go into the credentials file")
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let authority = URLAuthority(rest), authority.host.utf8.allSatisfy({ $0.isHostByte }) else {
            throw HomeAutomationError("\"\(text)\" is not an address of a broker", next: example)
        }
        host = authority.host
        port = authority.port ?? (isEncrypted ? Self.ports.encrypted : Self.ports.plain)
        self.isEncrypted = isEncrypted
        isLoopback = authority.isLoopback
    }

    package var description: String {
        "\(isEncrypted ? "mqtts" : "mqtt")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension UInt8 {
    fileprivate var isHostByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
            UInt8(ascii: "_"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
