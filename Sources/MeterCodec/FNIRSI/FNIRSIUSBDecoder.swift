import Domain

/// Splits bytes from a FNIRSI meter on USB into packets of 64 bytes, which start with AA and end in a CRC-8.
///
/// After noise, resynchronises at the next AA with a correct check. Skips a whole packet with an implausible value,
/// such as the first packet after an unclean stop. With `filter`, replaces single wrong samples.
package struct FNIRSIUSBDecoder: MarkedFrameDecoder {
    package static var startMark: UInt8 { FNIRSIUSBPacket.startMark }
    package var buffer = ReceiveBuffer(capacity: 64 * FNIRSIUSBPacket.length)
    private let enforcesCheck: Bool
    var filter: FNIRSIGlitchFilter?
    /// Filtered packets not returned yet, newest first.
    private var shown: [FNIRSIUSBPacket] = []

    /// - Parameter filter: nil to pass every sample unchanged.
    package init(enforcesCheck: Bool = true, filter: FNIRSIGlitchFilter? = nil) {
        self.enforcesCheck = enforcesCheck
        self.filter = filter
    }

    package mutating func next() -> DecodeStep? {
        if let packet = shown.popLast() { return .frame(.fnirsiUSB(packet)) }
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == FNIRSIUSBPacket.startMark else {
            return skip(.noStartMark(found: buffer[0]))
        }
        guard buffer.count >= FNIRSIUSBPacket.length else { return nil }
        let verdict = buffer.withBytes { raw in
            judge(UnsafeRawBufferPointer(rebasing: raw.prefix(FNIRSIUSBPacket.length)))
        }
        let step = step(verdict, length: FNIRSIUSBPacket.length)
        guard filter != nil, case .frame(.fnirsiUSB(let packet)) = step, let packets = filter?.filter(packet) else {
            return step
        }
        shown = packets.reversed()
        return shown.popLast().map { .frame(.fnirsiUSB($0)) } ?? step
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> FrameVerdict {
        guard raw.u8(1) == FNIRSIUSBPacket.samplesType || raw.u8(1) == FNIRSIUSBPacket.infoType else {
            return .noFrame(.implausibleField(offset: 1))
        }
        let expected = FNIRSIUSBPacket.check(raw)
        let found = raw.u8(FNIRSIUSBPacket.length - 1)
        if enforcesCheck, expected != found {
            return .noFrame(.wrongCheck(expected: UInt32(expected), found: UInt32(found)))
        }
        if let offset = FNIRSIUSBPacket.implausibleOffset(raw) { return .refused(.implausibleField(offset: offset)) }
        return .good(.fnirsiUSB(FNIRSIUSBPacket(raw)))
    }
}
