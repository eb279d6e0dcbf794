/// Id of a meter. Docs/SettingsAndRebuild.md#meter-ids is the source of its forms.
///
/// Colons and percent signs in a serial or host are written `%3A` and `%25`. A path is the last part and is not
/// encoded.
package enum MeterID: Hashable, Sendable {
    /// A meter with a radio.
    case mac(MACAddress)
    case usb(vendor: UInt16, product: UInt16, serial: String)
    /// A USB meter without a serial number, identified by the host's id and the port path. Valid on this host only.
    case usbPort(vendor: UInt16, product: UInt16, host: String, path: String)
    /// A port that a user named, used if its meter has no known address or serial. Valid on this host only.
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

    /// Whether the id contains a host's name, which two hosts may share. Only earlier versions made such ids.
    package var isGivenByName: Bool { givenBy.map { HostID($0) == nil } ?? false }

    /// Advice if two plugged-in meters have the serial number in this id.
    package var twinRemedy: String {
        "if it was not moved just now, two meters have this serial number; meterctl disconnect \(self), then meterctl "
            + "unalias \(self), has the one here known by its port"
    }

    /// Returns the id of the same port under `host`. Ids that all hosts share are returned unchanged.
    package func given(by host: HostID) -> MeterID {
        switch self {
        case .mac, .usb: self
        case .usbPort(let vendor, let product, _, let path):
            .usbPort(vendor: vendor, product: product, host: host.description, path: path)
        case .port(_, let path): .port(host: host.description, path: path)
        }
    }

    /// Reads the form that `description` prints, and a MAC address in any form unless it is blank
    /// (`MACAddress.isBlank`).
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
        // Gives the same order as the ids' texts, without creating the texts.
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

    /// The inverse of `partEncoded`. A percent sign before other characters is literal.
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
    /// Reads hex digits without sign or prefix.
    fileprivate init?(hexDigits text: String) {
        guard text.utf8.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
        self.init(text, radix: 16)
    }

    /// The number as in ids of USB devices: `2e3c`.
    package var fourHexDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
