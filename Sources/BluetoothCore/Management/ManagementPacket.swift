import Domain

package enum ManagementFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Fewer than the six bytes of the header.
    case noHeader(count: Int)
    case length(claimed: Int, actual: Int)
    case truncated(code: UInt16, count: Int)
    case value(String)

    package var description: String {
        switch self {
        case .noHeader(let count): "a management packet of \(count) bytes has no header"
        case .length(let claimed, let actual): "a management packet claims \(claimed) bytes and has \(actual)"
        case .truncated(let code, let count):
            "management packet 0x\(String(code, radix: 16)) is cut off after \(count) bytes"
        case .value(let words): "a management packet has \(words)"
        }
    }
}

/// One packet of the management channel, read in place (BlueZ `doc/mgmt`, "Packet Structures"): code, index and length,
/// two bytes each, then the content. All little-endian.
///
/// Valid only as long as the memory it refers to.
package struct ManagementPacket {
    package let code: UInt16
    /// Adapter index; `noIndex` if the packet concerns none.
    package let index: UInt16
    package let parameters: UnsafeRawBufferPointer

    package static let noIndex: UInt16 = 0xFFFF
    package static let headerLength = 6
    package static let lengthMax = headerLength + 0xFFFF

    package init(_ bytes: UnsafeRawBufferPointer) throws(ManagementFault) {
        guard bytes.count >= Self.headerLength else { throw .noHeader(count: bytes.count) }
        code = bytes.word(at: 0)
        index = bytes.word(at: 2)
        let claimed = Int(bytes.word(at: 4))
        let actual = bytes.count - Self.headerLength
        guard claimed == actual else { throw .length(claimed: claimed, actual: actual) }
        parameters = UnsafeRawBufferPointer(rebasing: bytes[Self.headerLength...])
    }

    static func encode(code: UInt16, index: UInt16, _ parameters: [UInt8]) -> [UInt8] {
        code.littleEndianBytes + index.littleEndianBytes
            + UInt16(truncatingIfNeeded: parameters.count).littleEndianBytes + parameters
    }
}

/// A report of a device, read in place from the kernel's packet. Valid only as long as that memory.
package struct DeviceReport: @unchecked Sendable {
    // `@unchecked Sendable` because of the pointer, which is used only during one call on the thread that read the
    // packet.

    package let address: RadioAddress
    /// In dBm. Nil if the adapter does not report it.
    package let rssi: Int?
    package let flags: Flags
    /// Advertising data, or an extended inquiry response.
    package let data: UnsafeRawBufferPointer

    /// Flags of a report (Linux `net/bluetooth/mgmt.h`, `MGMT_DEV_FOUND_…`).
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The kernel requests Confirm Name, to look up an unknown name.
        package static let confirmName = Flags(rawValue: 1 << 0)
    }

    package init(_ address: RadioAddress, rssi: Int?, data: UnsafeRawBufferPointer) {
        (self.address, self.rssi, self.data) = (address, rssi, data)
        flags = []
    }

    package static let code: UInt16 = 0x0012
    private static let fixedLength = 14

    package init?(_ packet: ManagementPacket) throws(ManagementFault) {
        guard packet.code == Self.code else { return nil }
        let bytes = packet.parameters
        guard bytes.count >= Self.fixedLength else { throw .truncated(code: packet.code, count: bytes.count) }
        guard let kind = RadioAddress.Kind(rawValue: bytes[6]) else {
            throw .value("an address of kind \(bytes[6])")
        }
        address = RadioAddress(bytes.address(at: 0), kind)
        let loudness = Int(Int8(bitPattern: bytes[7]))
        // 127 means "not available" (Core Specification 5.4, vol 4 part E 7.7.65.2). The kernel sets 0 when it reports
        // a name that it looked up; no radio is received that strongly.
        rssi = loudness == 127 || loudness == 0 ? nil : loudness
        flags = Flags(rawValue: bytes.long(at: 8))
        let length = Int(bytes.word(at: 12))
        let rest = bytes.count - Self.fixedLength
        guard length <= rest else { throw .length(claimed: length, actual: rest) }
        data = UnsafeRawBufferPointer(rebasing: bytes[Self.fixedLength..<Self.fixedLength + length])
    }
}

extension UInt16 {
    var littleEndianBytes: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)] }
}

extension UnsafeRawBufferPointer {
    func word(at offset: Int) -> UInt16 {
        UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    func long(at offset: Int) -> UInt32 {
        UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Returns the address at the offset, stored least significant octet first.
    func address(at offset: Int) -> MACAddress {
        MACAddress(bits: UInt64(long(at: offset)) | UInt64(word(at: offset + 4)) << 32)
    }
}

struct ManagementReader {
    private let bytes: [UInt8]
    private let code: UInt16
    private var offset = 0

    init(_ bytes: [UInt8], code: UInt16 = 0) {
        self.bytes = bytes
        self.code = code
    }

    var rest: ArraySlice<UInt8> { bytes[offset...] }

    mutating func take(_ count: Int) throws(ManagementFault) -> ArraySlice<UInt8> {
        guard count <= bytes.count - offset else { throw .truncated(code: code, count: bytes.count) }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func byte() throws(ManagementFault) -> UInt8 {
        let field = try take(1)
        return field[field.startIndex]
    }

    mutating func word() throws(ManagementFault) -> UInt16 {
        UInt16(truncatingIfNeeded: try number(of: 2))
    }

    mutating func long() throws(ManagementFault) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(of: 4))
    }

    mutating func address() throws(ManagementFault) -> MACAddress {
        MACAddress(bits: try number(of: 6))
    }

    mutating func device() throws(ManagementFault) -> RadioAddress {
        let address = try address()
        let kind = try byte()
        guard let known = RadioAddress.Kind(rawValue: kind) else { throw .value("an address of kind \(kind)") }
        return RadioAddress(address, known)
    }

    private mutating func number(of count: Int) throws(ManagementFault) -> UInt64 {
        try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
