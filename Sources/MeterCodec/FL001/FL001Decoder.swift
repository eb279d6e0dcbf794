import Domain

/// Splits bytes from an FL001 Super into reports of 64 bytes. After noise the decoder resynchronises at the next report
/// with a right CRC.
package struct FL001Decoder: MarkedFrameDecoder {
    package static var startMark: UInt8 { FL001Report.mark[0] }
    package var buffer = ReceiveBuffer(capacity: 64 * FL001Report.length)
    private let enforcesCheck: Bool

    package init(enforcesCheck: Bool = true) {
        self.enforcesCheck = enforcesCheck
    }

    package mutating func next() -> DecodeStep? {
        for (place, byte) in FL001Report.mark.enumerated() {
            guard buffer.count > place else { return nil }
            guard buffer[place] == byte else { return skip(.noStartMark(found: buffer[place])) }
        }
        guard buffer.count >= FL001Report.length else { return nil }
        let verdict = buffer.withBytes { judge(UnsafeRawBufferPointer(rebasing: $0.prefix(FL001Report.length))) }
        return step(verdict, length: FL001Report.length)
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> FrameVerdict {
        let expected = Checksum.crc16Modbus(raw.prefix(FL001Report.checkOffset))
        let found = raw.u16LE(FL001Report.checkOffset)
        if enforcesCheck, expected != found {
            return .noFrame(.wrongCheck(expected: UInt32(expected), found: UInt32(found)))
        }
        if let offset = FL001Report.implausibleOffset(raw) { return .refused(.implausibleField(offset: offset)) }
        return .good(.packed(PackedFrame(FL001Report.self, raw)))
    }
}
