/// One of the three 64-byte packets of an answer (Docs/Protocols/TC66.md#the-answer and
/// Docs/Protocols/TC66.md#finding-the-answer-in-a-stream).
package enum TC66Piece: Int, CaseIterable, Sendable {
    case pac1 = 0
    case pac2, pac3

    package static let length = 64
    /// Offset of the check word: CRC-16/MODBUS of everything before it, as a little-endian u32.
    package static let checkOffset = 60

    /// Recognises a packet by its first eight decrypted bytes. After `pac1`, the product name `TC66` must follow.
    package init?(beginning word: UInt64) {
        let text = word.littleEndian
        switch UInt32(truncatingIfNeeded: text) {
        case 0x3163_6170 where text >> 32 == 0x3636_4354: self = .pac1
        case 0x3263_6170: self = .pac2
        case 0x3363_6170: self = .pac3
        default: return nil
        }
    }

    package static func checkError(_ piece: UnsafeRawBufferPointer) -> CodecError? {
        let expected = UInt32(Checksum.crc16Modbus(piece.prefix(checkOffset)))
        let found = piece.u32LE(checkOffset)
        return found == expected ? nil : .wrongCheck(expected: expected, found: found)
    }
}
