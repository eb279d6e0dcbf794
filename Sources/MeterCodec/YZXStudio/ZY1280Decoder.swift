import Domain

/// Splits bytes of a ZY1280 into reports of 28 bytes. Each begins with AB 00 06 and ends with a checksum: the sum of
/// all bytes before it.
package struct ZY1280Decoder: MarkedFrameDecoder {
    package static var startMark: UInt8 { ZY1280Report.mark[0] }
    package var buffer = ReceiveBuffer(capacity: 64 * ZY1280Report.length)
    private let enforcesCheck: Bool

    package init(enforcesCheck: Bool = true) {
        self.enforcesCheck = enforcesCheck
    }

    package mutating func next() -> DecodeStep? {
        for (place, byte) in ZY1280Report.mark.enumerated() {
            guard buffer.count > place else { return nil }
            guard buffer[place] == byte else { return skip(.noStartMark(found: buffer[place])) }
        }
        guard buffer.count >= ZY1280Report.length else { return nil }
        let verdict = buffer.withBytes { judge(UnsafeRawBufferPointer(rebasing: $0.prefix(ZY1280Report.length))) }
        return step(verdict, length: ZY1280Report.length)
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> FrameVerdict {
        let (expected, found) = (ZY1280Report.check(raw), raw.u8(ZY1280Report.length - 1))
        if enforcesCheck, expected != found {
            return .noFrame(.wrongCheck(expected: UInt32(expected), found: UInt32(found)))
        }
        if let offset = ZY1280Report.implausibleOffset(raw) { return .refused(.implausibleField(offset: offset)) }
        return .good(.packed(PackedFrame(ZY1280Report.self, raw)))
    }
}
