package import Domain

/// Device information from three places in the meter's memory (Docs/Protocols/KM003C.md#logs). Text offsets are from
/// captured blocks.
package enum KM003CDeviceBlock {
    /// - Parameter block: decrypted bytes. A block that is too short adds nothing.
    package static func read(_ place: KM003CMemory, _ block: [UInt8], into device: inout DeviceInfo) {
        block.withUnsafeBytes { raw in
            switch place {
            case .hardware:
                device.model = model(raw) ?? device.model
                device.hardware = text(raw, 0x1C) ?? device.hardware
            case .firmware:
                device.model = model(raw) ?? device.model
                device.firmware = text(raw, 0x1C) ?? device.firmware
            case .serial:
                // Serial number, unique ID and a date in seconds, separated by spaces.
                let serial = raw.prefix { (0x21...0x7E).contains($0) }
                if !serial.isEmpty { device.serial = String(decoding: serial, as: UTF8.self) }
            case .hardwareID, .log:
                break
            }
        }
    }

    private static func model(_ raw: UnsafeRawBufferPointer) -> ModelName? {
        let name = text(raw, 0x10)?.lowercased()
        return KM003CFamily().models.first { $0.rawValue == name }
    }

    /// Returns one of a block's texts, which are twelve bytes apart; nil if it is empty.
    private static func text(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> String? {
        guard let text = raw.ascii(offset, length: 12), !text.isEmpty else { return nil }
        return text
    }
}
