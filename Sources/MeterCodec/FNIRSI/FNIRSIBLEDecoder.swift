import Domain

/// Splits a FNIRSI meter's notifications into frames, regardless of fragmentation. After noise, resynchronises at the
/// next AA with a correct check byte (Docs/Protocols/FNIRSI.md#bluetooth-le).
///
/// A check byte alone is weak evidence. So a frame of a known type must also have its length and plausible values. A
/// frame of an unknown type must be short and contain no valid frame of a known type.
package struct FNIRSIBLEDecoder: MarkedFrameDecoder {
    package static var startMark: UInt8 { FNIRSIBLEFrame.startMark }
    package var buffer = ReceiveBuffer(capacity: 1024)
    private let enforcesCheck: Bool

    /// - Parameter enforcesCheck: false accepts frames of a known type and length even with a wrong check byte.
    package init(enforcesCheck: Bool = true) {
        self.enforcesCheck = enforcesCheck
    }

    package mutating func next() -> DecodeStep? {
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == FNIRSIBLEFrame.startMark else { return skip(.noStartMark(found: buffer[0])) }
        guard buffer.count >= 3 else { return nil }
        let payloadLength = Int(buffer[2])
        let kind = FNIRSIBLEFrame.Kind(rawValue: buffer[1])
        guard kind.map({ $0.payloadLength == payloadLength }) ?? (payloadLength <= Self.longestUnknownPayload) else {
            return skip(.impossibleLength(payloadLength))
        }
        let length = payloadLength + FNIRSIBLEFrame.overhead
        if kind == nil, let start = buffer.withBytes({ firstKnownFrame(in: $0, before: length) }) {
            buffer.drop(start)
            return .skipped(count: start, because: .truncated(have: start))
        }
        guard buffer.count >= length else { return nil }
        if let error = buffer.withBytes({ error(in: $0, length: length, kind: kind) }) { return skip(error) }
        let frame = buffer.withBytes { raw in
            FNIRSIBLEFrame(type: raw.u8(1), payload: Array(raw[3..<(length - 1)]))
        }
        buffer.take(length)
        return .frame(.fnirsiBLE(frame))
    }

    /// Maximum payload of unknown types: 1.5 times the longest known one. Otherwise a wrong length byte could delay 255
    /// bytes.
    private static let longestUnknownPayload = 32

    /// Returns the offset of a complete frame of a known type. It takes precedence over the unknown frame around it,
    /// which may begin at a stray start mark. Ignores frames beyond `end`, because the result must not depend on the
    /// number of bytes received so far.
    private func firstKnownFrame(in raw: UnsafeRawBufferPointer, before end: Int) -> Int? {
        let inside = UnsafeRawBufferPointer(rebasing: raw.prefix(end))
        return inside.indices.dropFirst().first { offset in
            let rest = UnsafeRawBufferPointer(rebasing: inside[offset...])
            guard rest.u8(0) == FNIRSIBLEFrame.startMark, let kind = FNIRSIBLEFrame.Kind(rawValue: rest.u8(1)) else {
                return false
            }
            let length = kind.payloadLength + FNIRSIBLEFrame.overhead
            guard rest.count >= length, Int(rest.u8(2)) == kind.payloadLength else { return false }
            return checkError(in: rest, length: length) == nil && Self.implausibleOffset(rest, kind) == nil
        }
    }

    private func error(in raw: UnsafeRawBufferPointer, length: Int, kind: FNIRSIBLEFrame.Kind?) -> CodecError? {
        if enforcesCheck || kind == nil, let error = checkError(in: raw, length: length) { return error }
        return kind.flatMap { Self.implausibleOffset(raw, $0) }.map { .implausibleField(offset: $0) }
    }

    private func checkError(in raw: UnsafeRawBufferPointer, length: Int) -> CodecError? {
        let expected = FNIRSIBLEFrame.check(raw.prefix(length - 1))
        let found = raw.u8(length - 1)
        return expected == found ? nil : .wrongCheck(expected: UInt32(expected), found: UInt32(found))
    }

    /// Highest accepted power in ten-thousandths of a watt: 1575 W, the highest voltage times the highest current.
    private static let powerMax: UInt32 = 15_750_000

    /// Returns the offset of the first value beyond the limits of FNIRSI's USB packets, if any.
    private static func implausibleOffset(_ raw: UnsafeRawBufferPointer, _ kind: FNIRSIBLEFrame.Kind) -> Int? {
        let isPossible: [(offset: Int, Bool)] =
            switch kind {
            case .info: [(15, (1...10).contains(raw.u8(15)))]
            // Values are in ten-thousandths, but in hundred-thousandths in a USB packet.
            case .measurement:
                [
                    (3, raw.u32LE(3).isPossible(upTo: FNIRSIBLEFrame.voltageMax, orBelowZeroBy: 5000)),
                    (7, raw.i32LE(7).magnitude <= FNIRSIUSBPacket.currentMax / 10),
                    (11, raw.i32LE(11).magnitude <= powerMax && powerAgrees(raw)),
                ]
            // The sign byte needs no check: any value above 0 means plus (`FNIRSIBLEFrame.reading`).
            case .load: [(8, mayBe(raw.u16LE(8), FNIRSIUSBPacket.temperatureMax))]
            case .dataLines:
                [
                    (3, mayBe(raw.u16LE(3), FNIRSIUSBPacket.dataLineMax)),
                    (5, mayBe(raw.u16LE(5), FNIRSIUSBPacket.dataLineMax)),
                ]
            // The unit is thousandths. A voltage of 16 bits cannot exceed the limit.
            case .quick: [(5, UInt32(raw.i16LE(5).magnitude) <= FNIRSIUSBPacket.currentMax / 100)]
            case .triggerState: [(3, raw.u8(3) <= FNIRSITriggerState.codeMax)]
            // No limit: the number of groups depends on the model.
            case .totals, .groupTotals: []
            }
        return isPossible.first { !$0.1 }?.offset
    }

    /// Returns whether a type 04 frame's power equals voltage times current, within 5 % and 50 mW. The published frame
    /// agrees to 0.005 % (osnwt/ha-fnirsi-fnb58 tests/test_parser.py). With a pulsing load, the meter may average
    /// before or after the multiplication.
    private static func powerAgrees(_ raw: UnsafeRawBufferPointer) -> Bool {
        guard raw.u32LE(3) <= FNIRSIBLEFrame.voltageMax else { return true }
        let (power, product) = (Double(raw.i32LE(11)) / 1e4, Double(raw.u32LE(3)) * Double(raw.i32LE(7)) / 1e8)
        return Slack(steps: 0.05, part: 0.05).covers(power, product)
    }

    /// Returns whether the word is at most `max`, or possibly negative (`FNIRSIBLEFrame.belowZero`).
    private static func mayBe(_ word: UInt16, _ max: UInt16) -> Bool {
        word.isPossible(upTo: max, orBelowZeroBy: FNIRSIBLEFrame.belowZero)
    }
}
