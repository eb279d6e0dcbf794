import Domain

/// Splits bytes of a CT-3 into frames, regardless of fragmentation.
package struct CT3Decoder: MarkedFrameDecoder {
    package static var startMark: UInt8 { CT3Framing.startMark }
    package var buffer = ReceiveBuffer(capacity: 4096)
    private let enforcesChecks: Bool

    package init(enforcesChecks: Bool = true) {
        self.enforcesChecks = enforcesChecks
    }

    package mutating func next() -> DecodeStep? {
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == CT3Framing.startMark else { return skip(.noStartMark(found: buffer[0])) }
        guard buffer.count >= CT3Framing.headerLength else { return nil }
        let length = Int(buffer.withBytes { $0.u32LE(1) })
        guard CT3Framing.payloadLengths.contains(length) else { return skip(.impossibleLength(length)) }
        let whole = length + CT3Framing.overhead
        if length > CT3Framing.usualLengthMax, let start = buffer.withBytes({ Self.usualFrame(in: $0, before: whole) })
        {
            buffer.drop(start)
            return .skipped(count: start, because: .truncated(have: start))
        }
        guard buffer.count >= whole else { return nil }
        let verdict = buffer.withBytes { judge(UnsafeRawBufferPointer(rebasing: $0.prefix(whole))) }
        return step(verdict, length: whole)
    }

    /// Returns the offset of the valid frame of a usual length that ends first. Ignores frames beyond `end`, because
    /// the result must not depend on the number of bytes received so far.
    private static func usualFrame(in raw: UnsafeRawBufferPointer, before end: Int) -> Int? {
        let inside = UnsafeRawBufferPointer(rebasing: raw.prefix(end))
        let ends = inside.indices.dropFirst().compactMap { offset in
            usualLength(UnsafeRawBufferPointer(rebasing: inside[offset...])).map { (offset: offset, end: offset + $0) }
        }
        return ends.min { $0.end < $1.end }?.offset
    }

    private static func usualLength(_ raw: UnsafeRawBufferPointer) -> Int? {
        guard raw.u8(0) == CT3Framing.startMark, raw.count >= CT3Framing.headerLength else { return nil }
        let length = Int(raw.u32LE(1))
        guard CT3Framing.payloadLengths.contains(length), length <= CT3Framing.usualLengthMax else { return nil }
        let last = CT3Framing.headerLength + length + 1
        guard raw.count > last, raw.u8(last) == CT3Framing.endMark else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: raw[CT3Framing.headerLength..<(last - 1)])
        return CT3Framing.check(payload) == raw.u8(last - 1) ? last + 1 : nil
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> FrameVerdict {
        let end = raw.u8(raw.count - 1)
        guard end == CT3Framing.endMark else { return .noFrame(.implausibleField(offset: raw.count - 1)) }
        let payload = UnsafeRawBufferPointer(rebasing: raw[CT3Framing.headerLength..<(raw.count - 2)])
        let (expected, found) = (CT3Framing.check(payload), raw.u8(raw.count - 2))
        if enforcesChecks, expected != found {
            return .noFrame(.wrongCheck(expected: UInt32(expected), found: UInt32(found)))
        }
        if let offset = CT3Message.implausibleOffset(payload) { return .refused(.implausibleField(offset: offset)) }
        return payload.count > PackedFrame.lengthMax
            ? .good(.other(CT3Message(payload))) : .good(.packed(PackedFrame(CT3Message.self, payload)))
    }
}
