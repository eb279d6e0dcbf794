/// Id of a meter (Docs/SettingsAndRebuild.md#meter-ids).
///
/// Colons and percent signs in a serial number or host are written `%3A` and `%25`. A path is last and not encoded.
package enum MeterID: Hashable, Sendable {
    case mac(MACAddress)
    case usb(vendor: UInt16, product: UInt16, serial: String)
    /// A USB meter without a serial number. Valid on this host only.
    case usbPort(vendor: UInt16, product: UInt16, host: String, path: String)
    /// A declared port, if its meter has no known address or serial number. Valid on this host only.
    case port(host: String, path: String)

    /// Whether only one host uses the id.
    package var isLocalOnly: Bool {
        switch self {
        case .mac, .usb: false
        case .usbPort, .port: true
        }
    }

    package var isUSB: Bool {
        switch self {
        case .usb, .usbPort: true
        case .mac, .port: false
        }
    }

    /// The host's UUID, or its name in earlier versions; nil for an id that all hosts share.
    package var givenBy: String? {
        switch self {
        case .mac, .usb: nil
        case .usbPort(_, _, let host, _), .port(let host, _): host
        }
    }

    /// Whether the id contains a host's name, as in earlier versions. Two hosts may share a name.
    package var isGivenByName: Bool { givenBy.map { HostID($0) == nil } ?? false }

    /// Advice if two plugged-in meters have this serial number.
    package var twinRemedy: String {
        "if it was not moved just now, two meters have this serial number; meterctl disconnect \(self), then meterctl "
            + "unalias \(self), has the one here known by its port"
    }

    /// Returns the id of the same port on `host`. Ids that all hosts share are unchanged.
    package func given(by host: HostID) -> MeterID {
        switch self {
        case .mac, .usb: self
        case .usbPort(let vendor, let product, _, let path):
            .usbPort(vendor: vendor, product: product, host: host.description, path: path)
        case .port(_, let path): .port(host: host.description, path: path)
        }
    }

    /// Parses the output of `description`, or a MAC address in any form unless blank (`MACAddress.isBlank`).
    package init?(_ text: some StringProtocol) {
        if let mac = MACAddress(text) {
            guard !mac.isBlank else { return nil }
            self = .mac(mac)
            return
        }
        let parts = String(text).split(separator: ":" as Character, maxSplits: 4, omittingEmptySubsequences: false)
            .map(String.init)
        switch (parts.first?.lowercased(), parts.count) {
        case ("usb", 4...):
            guard let vendor = UInt16(hexDigits: parts[1]), let product = UInt16(hexDigits: parts[2]) else {
                return nil
            }
            if parts.count == 4, !parts[3].isEmpty {
                self = .usb(vendor: vendor, product: product, serial: parts[3].partDecoded)
            } else if parts.count == 5, !parts[3].isEmpty, !parts[4].isEmpty {
                self = .usbPort(vendor: vendor, product: product, host: parts[3].partDecoded, path: parts[4])
            } else {
                return nil
            }
        case ("port", 3...):
            let path = parts[2...].joined(separator: ":")
            guard !parts[1].isEmpty, !path.isEmpty else { return nil }
            self = .port(host: parts[1].partDecoded, path: path)
        default:
            return nil
        }
    }
}

extension MeterID: CustomStringConvertible {
    package var description: String {
        switch self {
        case .mac(let address): address.description
        case .usb(let vendor, let product, let serial):
            "usb:\(vendor.fourHexDigits):\(product.fourHexDigits):\(serial.partEncoded)"
        case .usbPort(let vendor, let product, let host, let path):
            "usb:\(vendor.fourHexDigits):\(product.fourHexDigits):\(host.partEncoded):\(path)"
        case .port(let host, let path): "port:\(host.partEncoded):\(path)"
        }
    }
}

extension MeterID: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        // Compare without creating the texts, whose order is the same.
        if case (.mac(let left), .mac(let right)) = (lhs, rhs) { return left.bits < right.bits }
        return lhs.description < rhs.description
    }
}

extension String {
    fileprivate var partEncoded: String {
        var text = ""
        for character in unicodeScalars {
            switch character {
            case ":": text += "%3A"
            case "%": text += "%25"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }

    /// Inverse of `partEncoded`. A percent sign before other characters is literal.
    fileprivate var partDecoded: String {
        var text = ""
        var rest = unicodeScalars[...]
        while let first = rest.popFirst() {
            let code = first == "%" ? String(String.UnicodeScalarView(rest.prefix(2))).lowercased() : ""
            switch code {
            case "3a": text += ":"
            case "25": text += "%"
            default:
                text.unicodeScalars.append(first)
                continue
            }
            rest = rest.dropFirst(2)
        }
        return text
    }
}

extension UInt16 {
    /// Parses hex digits without sign or prefix.
    fileprivate init?(hexDigits text: String) {
        guard text.utf8.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
        self.init(text, radix: 16)
    }

    /// As in USB device ids: `2e3c`.
    package var fourHexDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
