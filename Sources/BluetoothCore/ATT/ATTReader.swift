struct ATTReader {
    private let bytes: [UInt8]
    private let opcode: ATTOpcode
    private var offset = 1

    init(_ bytes: [UInt8], opcode: ATTOpcode) {
        self.bytes = bytes
        self.opcode = opcode
    }

    private var left: Int { bytes.count - offset }

    var tooShort: ATTDecodeError { fault(.tooShort(length: bytes.count)) }

    private func fault(_ fault: ATTDecodeError.Fault) -> ATTDecodeError {
        ATTDecodeError(opcode: opcode.rawValue, fault: fault)
    }

    func finish() throws(ATTDecodeError) {
        guard left == 0 else { throw fault(.tooLong(length: bytes.count)) }
    }

    mutating func take(_ count: Int) throws(ATTDecodeError) -> ArraySlice<UInt8> {
        guard count <= left else { throw tooShort }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func rest() -> [UInt8] {
        defer { offset = bytes.count }
        return Array(bytes[offset...])
    }

    mutating func u8() throws(ATTDecodeError) -> UInt8 {
        guard left >= 1 else { throw tooShort }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func u16() throws(ATTDecodeError) -> UInt16 {
        guard left >= 2 else { throw tooShort }
        defer { offset += 2 }
        return UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
    }

    mutating func flag() throws(ATTDecodeError) -> Bool {
        let byte = try u8()
        guard byte <= 1 else { throw fault(.unknownFormat(byte)) }
        return byte == 1
    }

    mutating func range() throws(ATTDecodeError) -> ATTHandleRange {
        ATTHandleRange(try u16(), try u16())
    }

    mutating func uuid() throws(ATTDecodeError) -> BluetoothUUID {
        guard left >= 2 else { throw tooShort }
        let length = left
        guard length == 2 || length == 16, let uuid = BluetoothUUID(littleEndian: try take(length)) else {
            throw fault(.unevenList(entryLength: 16, length: length))
        }
        return uuid
    }

    mutating func handles() throws(ATTDecodeError) -> [UInt16] {
        guard left >= 4 else { throw tooShort }
        return try entries(of: 2) { $0.u16(at: 0) }
    }

    mutating func entries<Entry>(
        of length: Int, _ entry: (ArraySlice<UInt8>) -> Entry
    ) throws(ATTDecodeError) -> [Entry] {
        guard left > 0 else { throw tooShort }
        guard length > 0, left.isMultiple(of: length) else {
            throw fault(.unevenList(entryLength: length, length: left))
        }
        var entries: [Entry] = []
        entries.reserveCapacity(left / length)
        while left > 0 { entries.append(entry(try take(length))) }
        return entries
    }

    mutating func countedEntries<Entry>(
        atLeast least: Int, _ entry: (ArraySlice<UInt8>) -> Entry
    ) throws(ATTDecodeError) -> [Entry] {
        let length = Int(try u8())
        guard length >= least else { throw fault(.unevenList(entryLength: length, length: left)) }
        return try entries(of: length, entry)
    }

    mutating func information() throws(ATTDecodeError) -> [ATTInformation] {
        let format = try u8()
        guard format == 1 || format == 2 else { throw fault(.unknownFormat(format)) }
        return try entries(of: format == 1 ? 4 : 18) { entry in
            // Two or sixteen bytes are left, so the fallback is never used.
            ATTInformation(
                handle: entry.u16(at: 0),
                type: BluetoothUUID(littleEndian: entry.dropFirst(2)) ?? BluetoothUUID(short: 0))
        }
    }

    /// Reads values, each preceded by its length. Only the last may be truncated (vol 3 part F 3.4.4.12).
    mutating func countedValues() throws(ATTDecodeError) -> [[UInt8]] {
        guard left > 0 else { throw tooShort }
        var values: [[UInt8]] = []
        while left > 0 {
            let length = Int(try u16())
            values.append(Array(try take(min(length, left))))
        }
        return values
    }

    /// Reads entries of a handle, a length and a value (vol 3 part F 3.4.7.4).
    mutating func countedHandleValues() throws(ATTDecodeError) -> [ATTHandleValue] {
        guard left > 0 else { throw tooShort }
        var values: [ATTHandleValue] = []
        while left > 0 {
            let handle = try u16()
            let length = Int(try u16())
            values.append(ATTHandleValue(handle: handle, value: Array(try take(length))))
        }
        return values
    }
}

extension ArraySlice<UInt8> {
    /// Returns a little-endian number; 0 if it extends beyond the end.
    func u16(at offset: Int) -> UInt16 {
        guard offset + 2 <= count else { return 0 }
        return UInt16(self[startIndex + offset]) | UInt16(self[startIndex + offset + 1]) << 8
    }
}
