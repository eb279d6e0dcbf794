/// Finds services announced on this network. Any machine can answer, so answers are only shown to users, never
/// connected to.
package protocol Discovery: Sendable {
    /// Searches for a few seconds.
    ///
    /// - Parameter type: DNS-SD type, such as `_esphomelib._tcp`.
    func services(of type: String) async throws(DiscoveryFault) -> FoundServices
}

package struct FoundServices: Hashable, Sendable {
    package var services: [FoundService]
    /// Whether the list omits some services.
    package var isCut: Bool

    package init(_ services: [FoundService] = [], isCut: Bool = false) {
        (self.services, self.isCut) = (services, isCut)
    }
}

package struct FoundService: Hashable, Sendable {
    package var name: String
    package var host: String
    package var port: Int
    /// TXT record as in DNS: strings, each preceded by its length (RFC 6763, section 6.1).
    package var text: [UInt8]

    package init(name: String, host: String, port: Int, text: [UInt8]) {
        (self.name, self.host, self.port, self.text) = (name, host, port, text)
    }

    /// Whether host and port are valid, and need no escaping in a URL.
    package var hasAddress: Bool {
        host.isPlainName(max: 253, allowsDots: true) && host.first != "-" && (1...0xFFFF).contains(port)
    }

    /// Nil if the TXT record lacks the key, or if the value is not UTF-8.
    package func value(of key: String) -> String? {
        var rest = text[...]
        while let length = rest.popFirst() {
            let string = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let parts = string.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            // Keys ignore case, and the first match counts (RFC 6763, section 6.4).
            guard String(validating: parts[0], as: UTF8.self)?.lowercased() == key else { continue }
            return parts.count == 2 ? String(validating: parts[1], as: UTF8.self) : ""
        }
        return nil
    }
}

extension String {
    /// Whether the text is 1 to `max` letters, digits, dashes and underscores, so it never needs quotes.
    package func isPlainName(max: Int, allowsDots: Bool = false) -> Bool {
        (1...max).contains(utf8.count)
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                case 0x2E: allowsDots
                default: false
                }
            }
    }
}

package struct DiscoveryFault: Error, Hashable, Sendable {
    package var message: String
    package var next: String

    package init(_ message: String, next: String) { (self.message, self.next) = (message, next) }
}
