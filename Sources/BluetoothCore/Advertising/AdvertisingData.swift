import Domain

/// Decoded advertising data, scan response, extended inquiry response, or several of them in a row (Core Specification
/// 5.4, vol 3 part C 11; types from Assigned Numbers 2.3).
///
/// Decoding stops at a structure that exceeds the data, because data from a hostile or broken device may end anywhere.
package struct AdvertisingData: Hashable, Sendable {
    package var flags: UInt8?
    package var name: DeviceName?
    package var services: [BluetoothUUID] = []
    /// In dBm.
    package var transmitPower: Int?
    /// Three bytes as one number (Assigned Numbers 2.8).
    package var deviceClass: UInt32?
    package var isTruncated = false

    /// Maximum number of services of one device, more than any known meter lists.
    package static let servicesMax = 64

    package init(_ bytes: UnsafeRawBufferPointer) {
        isTruncated = !Self.forEachStructure(in: bytes) { type, body in
            take(type, body)
        }
    }

    package init(_ bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { AdvertisingData($0) }
    }

    static func forEachStructure(
        in bytes: UnsafeRawBufferPointer, _ body: (UInt8, UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let length = Int(bytes[offset])
            // A length of zero ends the significant part (vol 3 part C 11).
            if length == 0 { return true }
            let end = offset + 1 + length
            guard end <= bytes.count else { return false }
            body(bytes[offset + 1], UnsafeRawBufferPointer(rebasing: bytes[offset + 2..<end]))
            offset = end
        }
        return true
    }

    private mutating func take(_ type: UInt8, _ body: UnsafeRawBufferPointer) {
        switch type {
        case 0x01: flags = flags ?? body.first
        case 0x02, 0x03: takeServices(body, width: 2)
        case 0x04, 0x05: takeServices(body, width: 4)
        case 0x06, 0x07: takeServices(body, width: 16)
        case 0x08, 0x09:
            guard let new = DeviceName(body, isComplete: type == 0x09) else { return }
            name = new.replacing(name)
        case 0x0A: transmitPower = body.first.map { Int(Int8(bitPattern: $0)) }
        case 0x0D where body.count >= 3: deviceClass = UInt32(body.word(at: 0)) | UInt32(body[2]) << 16
        default: break
        }
    }

    private mutating func takeServices(_ body: UnsafeRawBufferPointer, width: Int) {
        for offset in stride(from: 0, through: body.count - width, by: width) {
            guard services.count < Self.servicesMax else { return }
            let bytes = UnsafeRawBufferPointer(rebasing: body[offset..<offset + width])
            guard let service = BluetoothUUID(littleEndian: bytes) else { return }
            if !services.contains(service) { services.append(service) }
        }
    }
}

package struct DeviceName: Hashable, Sendable {
    package var text: String
    /// False for a name shortened to fit an advertisement.
    package var isComplete: Bool

    /// Longest name of the standard, in bytes (Core Specification 5.4, vol 3 part C 3.2.2.3).
    package static let lengthMax = 248

    package init(_ text: String, isComplete: Bool = true) {
        self.text = text
        self.isComplete = isComplete
    }

    /// - Returns: nil for a name without a single printable character.
    package init?(_ bytes: UnsafeRawBufferPointer, isComplete: Bool) {
        // Modules pad their names with zeros.
        let significant = bytes.prefix(Self.lengthMax).prefix { $0 != 0 }
        var text = String.UnicodeScalarView()
        // Invalid UTF-8 becomes the replacement character. Removes characters that would move a terminal's cursor.
        for scalar in String(decoding: significant, as: UTF8.self).unicodeScalars where scalar.isVisible {
            text.append(scalar)
        }
        while text.last == " " { text.removeLast() }
        while text.first == " " { text.removeFirst() }
        guard !text.isEmpty else { return nil }
        self.text = String(text)
        self.isComplete = isComplete
    }

    /// Returns this name, unless it is shortened and the old one is complete.
    package func replacing(_ old: DeviceName?) -> DeviceName {
        guard let old, old.isComplete, !isComplete else { return self }
        return old
    }
}
