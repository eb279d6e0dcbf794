import MeterModel

/// Cuts a FNIRSI meter's notifications into frames. A notification may hold several or a part of one, so it reads them
/// as one stream and after rubbish goes on at the next AA whose check is right (protocols.md 3.5).
///
/// The check is one byte, so a known type must also have its known length, and volts and amperes must be possible.
package struct FNIRSIBLEDecoder: FrameDecoder {
    private var buffer = ReceiveBuffer(capacity: 1024)
    private let enforcesCheck: Bool

    /// - Parameter enforcesCheck: false takes frames of a known type and length with a wrong check byte too.
    package init(enforcesCheck: Bool = true) {
        self.enforcesCheck = enforcesCheck
    }

    package mutating func append(_ bytes: [UInt8]) {
        buffer.append(bytes)
    }

    package mutating func next() -> DecodeStep? {
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == FNIRSIBLEFrame.startMark else { return skip(.noStartMark(found: buffer[0])) }
        guard buffer.count >= 3 else { return nil }
        let payloadLength = Int(buffer[2])
        let kind = FNIRSIBLEFrame.Kind(rawValue: buffer[1])
        if let kind, kind.payloadLength != payloadLength { return skip(.impossibleLength(payloadLength)) }
        let length = payloadLength + FNIRSIBLEFrame.overhead
        guard buffer.count >= length else { return nil }
        if let error = buffer.withBytes({ error(in: $0, length: length, kind: kind) }) { return skip(error) }
        let frame = buffer.withBytes { raw in
            FNIRSIBLEFrame(type: raw.u8(1), payload: Array(raw[3..<(length - 1)]))
        }
        buffer.take(length)
        return .frame(.fnirsiBLE(frame))
    }

    package var frameBytes: [UInt8] { buffer.lastTaken }
    package var pendingCount: Int { buffer.count }

    package mutating func reset() -> Int {
        defer { buffer.removeAll() }
        return buffer.count
    }

    /// Passes over the bytes before the next start mark behind the first byte.
    private mutating func skip(_ error: CodecError) -> DecodeStep {
        let count = buffer.firstOffset(of: FNIRSIBLEFrame.startMark, from: 1) ?? buffer.count
        buffer.drop(count)
        return .skipped(count: count, because: error)
    }

    private func error(in raw: UnsafeRawBufferPointer, length: Int, kind: FNIRSIBLEFrame.Kind?) -> CodecError? {
        let expected = FNIRSIBLEFrame.check(raw.prefix(length - 1))
        let found = raw.u8(length - 1)
        if enforcesCheck || kind == nil, expected != found {
            return .wrongCheck(expected: UInt32(expected), found: UInt32(found))
        }
        guard kind == .measurement else { return nil }
        // Ten-thousandths here, hundred-thousandths in a USB packet.
        if raw.u32LE(3) > FNIRSIUSBPacket.voltageMax / 10 { return .implausibleField(offset: 3) }
        if raw.u32LE(7) > FNIRSIUSBPacket.currentMax / 10 { return .implausibleField(offset: 7) }
        return nil
    }
}
