struct BulkInterface: Hashable, Sendable {
    /// USB class of vendor-specific interfaces (USB-IF, Defined Class Codes).
    static let makersClass: UInt8 = 0xFF

    var vendor: UInt16
    var product: UInt16
    var number: UInt8
    /// Endpoint address; bit 0x80 means the direction to the host.
    var input: UInt8
    var output: UInt8

    /// Finds the first vendor-specific interface in a device's descriptors (USB 2.0, 9.6: the device's, then a
    /// configuration's with its interfaces and endpoints). Selects by class, because the interface number differs
    /// between otherwise equal models.
    ///
    /// - Returns: nil if there is none, or if the descriptors are truncated before its end.
    init?(descriptors bytes: [UInt8]) {
        guard bytes.count >= 18, bytes[0] == 18, bytes[1] == 1 else { return nil }
        vendor = UInt16(bytes[8]) | UInt16(bytes[9]) << 8
        product = UInt16(bytes[10]) | UInt16(bytes[11]) << 8
        var interface: UInt8?
        var input: UInt8?
        var output: UInt8?
        for (type, one) in USBDescriptors(bytes.dropFirst(18)) {
            switch type {
            case 4 where one.count >= 9:
                // Alternate setting 0 is the active one.
                let isMakers = one[5] == Self.makersClass && one[3] == 0
                interface = isMakers ? one[2] : nil
                (input, output) = (nil, nil)
            case 5 where one.count >= 7 && one[3] & 3 == 2:
                let address = one[2]
                if address & 0x80 != 0 { input = input ?? address } else { output = output ?? address }
            default: break
            }
            if let interface, let input, let output {
                (number, self.input, self.output) = (interface, input, output)
                return
            }
        }
        return nil
    }
}
