/// Finds services that programs announce in this network.
///
/// Strangers answer. An answer is shown to people, and nothing connects to what it names.
package protocol Discovery: Sendable {
    /// Looks for services for some seconds.
    ///
    /// - Parameter type: as in DNS-SD: `_esphomelib._tcp`.
    func services(of type: String) async throws(DiscoveryFault) -> FoundServices
}

package struct FoundServices: Hashable, Sendable {
    package var services: [FoundService]
    /// Whether there are more than are listed.
    package var isCut: Bool

    package init(_ services: [FoundService] = [], isCut: Bool = false) {
        (self.services, self.isCut) = (services, isCut)
    }
}

/// A service as it was announced.
package struct FoundService: Hashable, Sendable {
    package var name: String
    package var host: String
    package var port: Int
    /// Its TXT record as in DNS: strings, each with its length before it (RFC 6763, section 6.1).
    package var text: [UInt8]

    package init(name: String, host: String, port: Int, text: [UInt8]) {
        (self.name, self.host, self.port, self.text) = (name, host, port, text)
    }

    /// Whether host and port could stand in an address as they are.
    package var hasAddress: Bool {
        host.isPlainName(max: 253, allowsDots: true) && host.first != "-" && (1...0xFFFF).contains(port)
    }

    /// The value of a key in the TXT record. Nil without the key, and for bytes that are not UTF-8.
    package func value(of key: String) -> String? {
        var rest = text[...]
        while let length = rest.popFirst() {
            let string = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let parts = string.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            // Upper and lower case are alike, and the first counts (RFC 6763, section 6.4).
            guard String(validating: parts[0], as: UTF8.self)?.lowercased() == key else { continue }
            return parts.count == 2 ? String(validating: parts[1], as: UTF8.self) : ""
        }
        return nil
    }
}

extension String {
    /// Whether it consists of 1 to `max` letters, digits, dashes and underscores, and so needs no quotes anywhere.
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

/// Why nothing could be looked for.
package struct DiscoveryFault: Error, Hashable, Sendable {
    package var message: String
    /// The remedy.
    package var next: String

    package init(_ message: String, next: String) { (self.message, self.next) = (message, next) }
}
