import MeterModel

/// Cuts a FNIRSI meter's bytes on USB into packets of 64.
///
/// A packet starts with AA and ends in a CRC-8. HID delivers whole packets; the decoder takes any pieces, and after
/// noise goes on at the next AA whose check is right. A packet that is whole and yet holds an impossible value, as
/// the first after an unclean stop does, is skipped as a whole.
package struct FNIRSIUSBDecoder: BufferedFrameDecoder {
    package var buffer = ReceiveBuffer(capacity: 64 * FNIRSIUSBPacket.length)
    private let enforcesCheck: Bool

    /// - Parameter enforcesCheck: false takes packets with a wrong check byte too.
    package init(enforcesCheck: Bool = true) {
        self.enforcesCheck = enforcesCheck
    }

    package mutating func next() -> DecodeStep? {
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == FNIRSIUSBPacket.startMark else {
            return skip(.noStartMark(found: buffer[0]))
        }
        guard buffer.count >= FNIRSIUSBPacket.length else { return nil }
        let verdict = buffer.withBytes { raw in
            judge(UnsafeRawBufferPointer(rebasing: raw.prefix(FNIRSIUSBPacket.length)))
        }
        switch verdict {
        case .good(let packet):
            buffer.take(FNIRSIUSBPacket.length)
            return .frame(.fnirsiUSB(packet))
        case .refused(let error):
            buffer.drop(FNIRSIUSBPacket.length)
            return .skipped(count: FNIRSIUSBPacket.length, because: error)
        case .noPacket(let error):
            return skip(error)
        }
    }

    /// Passes over the bytes before the next start mark behind the first byte.
    private mutating func skip(_ error: CodecError) -> DecodeStep {
        let count = buffer.firstOffset(of: FNIRSIUSBPacket.startMark, from: 1) ?? buffer.count
        buffer.drop(count)
        return .skipped(count: count, because: error)
    }

    private enum Verdict {
        case good(FNIRSIUSBPacket)
        /// A packet, and one that nobody can use.
        case refused(CodecError)
        /// The start mark was an ordinary byte.
        case noPacket(CodecError)
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard raw.u8(1) == FNIRSIUSBPacket.samplesType || raw.u8(1) == FNIRSIUSBPacket.infoType else {
            return .noPacket(.implausibleField(offset: 1))
        }
        let expected = FNIRSIUSBPacket.check(raw)
        let found = raw.u8(FNIRSIUSBPacket.length - 1)
        if enforcesCheck, expected != found {
            return .noPacket(.wrongCheck(expected: UInt32(expected), found: UInt32(found)))
        }
        if let offset = FNIRSIUSBPacket.implausibleOffset(raw) { return .refused(.implausibleField(offset: offset)) }
        return .good(FNIRSIUSBPacket(raw))
    }
}
