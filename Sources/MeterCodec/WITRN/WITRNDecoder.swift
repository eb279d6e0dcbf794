import MeterModel

/// Splits what a WITRN meter sends into reports of 64 bytes (Docs/Protocols/WITRN.md).
///
/// HID delivers whole reports; the decoder accepts any pieces, and after noise resynchronises at the next report whose
/// two sums are right. Messages from the CC line have no sum: they are told by their shape, and never carry a reading.
package struct WITRNDecoder: BufferedFrameDecoder {
    package var buffer = ReceiveBuffer(capacity: 64 * WITRNReport.length)
    private let enforcesChecks: Bool
    /// Of the last measurement; nil before the first.
    private var context: WITRNPowerDelivery.Context?

    /// - Parameter enforcesChecks: if false, reports with wrong sums are accepted too.
    package init(enforcesChecks: Bool = true) {
        self.enforcesChecks = enforcesChecks
    }

    package mutating func next() -> DecodeStep? {
        guard buffer.count > 0 else { return nil }
        let first = buffer[0]
        switch first {
        case WITRNReport.startMark.0:
            guard buffer.count > 1 else { return nil }
            guard buffer[1] == WITRNReport.startMark.1 else { return skip(.noStartMark(found: buffer[1])) }
        case WITRNPowerDelivery.startMark: break
        default: return skip(.noStartMark(found: first))
        }
        guard buffer.count >= WITRNReport.length else { return nil }
        let context = self.context
        let verdict = buffer.withBytes { bytes in
            let raw = UnsafeRawBufferPointer(rebasing: bytes.prefix(WITRNReport.length))
            return first == WITRNPowerDelivery.startMark ? heard(raw, context) : measured(raw)
        }
        switch verdict {
        case .good(let frame, let newer):
            buffer.take(WITRNReport.length)
            if let newer { self.context = newer }
            return .frame(frame)
        case .refused(let error):
            buffer.drop(WITRNReport.length)
            return .skipped(count: WITRNReport.length, because: error)
        case .noReport(let error):
            return skip(error)
        }
    }

    /// Skips the bytes before the next one that may start a report.
    private mutating func skip(_ error: CodecError) -> DecodeStep {
        let starts = [WITRNReport.startMark.0, WITRNPowerDelivery.startMark]
        let count = starts.compactMap { buffer.firstOffset(of: $0, from: 1) }.min() ?? buffer.count
        buffer.drop(count)
        return .skipped(count: count, because: error)
    }

    private enum Verdict {
        /// With what a message that follows will lack, if this is a measurement.
        case good(Frame, WITRNPowerDelivery.Context?)
        /// A report that nobody can use.
        case refused(CodecError)
        /// Not a report: what looked like its start were ordinary bytes.
        case noReport(CodecError)
    }

    private func measured(_ raw: UnsafeRawBufferPointer) -> Verdict {
        let expected = WITRNReport.checks(raw)
        if enforcesChecks, expected != (raw.u8(62), raw.u8(63)) {
            let words = (
                UInt32(expected.payload) << 8 | UInt32(expected.whole), UInt32(raw.u8(62)) << 8 | UInt32(raw.u8(63))
            )
            return .noReport(.wrongCheck(expected: words.0, found: words.1))
        }
        let report = WITRNReport(raw)
        guard report.isMeasurement else { return .good(.packed(PackedFrame(WITRNReport.self, raw)), nil) }
        if let offset = WITRNReport.implausibleOffset(raw) { return .refused(.implausibleField(offset: offset)) }
        let newer = WITRNPowerDelivery.Context(milliseconds: report.milliseconds, level: report.level)
        return .good(.packed(PackedFrame(WITRNReport.self, raw)), newer)
    }

    private func heard(_ raw: UnsafeRawBufferPointer, _ context: WITRNPowerDelivery.Context?) -> Verdict {
        guard let message = WITRNPowerDelivery(raw, context: context) else {
            return .noReport(.implausibleField(offset: 1))
        }
        return .good(.other(message), nil)
    }
}
