import Domain

/// Splits bytes from a WITRN meter into reports of 64 bytes (Docs/Protocols/WITRN.md).
///
/// After invalid bytes it resynchronises at the next report with two correct checksums. Reports of CC messages have no
/// checksum; they are recognised by length, ordered set and header, and contain no measurement.
package struct WITRNDecoder: MarkedFrameDecoder {
    package static var startMark: UInt8 { WITRNReport.startMark.0 }
    package static var otherStartMark: UInt8? { WITRNPowerDelivery.startMark }
    package var buffer = ReceiveBuffer(capacity: 64 * WITRNReport.length)
    private let enforcesChecks: Bool
    private var context: WITRNPowerDelivery.Context?

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
        let (verdict, newer) = buffer.withBytes { bytes in
            let raw = UnsafeRawBufferPointer(rebasing: bytes.prefix(WITRNReport.length))
            return first == WITRNPowerDelivery.startMark ? heard(raw, context) : measured(raw)
        }
        if let newer { self.context = newer }
        return step(verdict, length: WITRNReport.length)
    }

    private typealias Judgement = (verdict: FrameVerdict, newer: WITRNPowerDelivery.Context?)

    private func measured(_ raw: UnsafeRawBufferPointer) -> Judgement {
        let expected = WITRNReport.checks(raw)
        if enforcesChecks, expected != (raw.u8(62), raw.u8(63)) {
            let words = (
                UInt32(expected.payload) << 8 | UInt32(expected.whole), UInt32(raw.u8(62)) << 8 | UInt32(raw.u8(63))
            )
            return (.noFrame(.wrongCheck(expected: words.0, found: words.1)), nil)
        }
        let report = WITRNReport(raw)
        guard report.isMeasurement else { return (.good(.packed(PackedFrame(WITRNReport.self, raw))), nil) }
        if let offset = WITRNReport.implausibleOffset(raw) { return (.refused(.implausibleField(offset: offset)), nil) }
        let newer = WITRNPowerDelivery.Context(milliseconds: report.milliseconds, level: report.level)
        return (.good(.packed(PackedFrame(WITRNReport.self, raw))), newer)
    }

    private func heard(_ raw: UnsafeRawBufferPointer, _ context: WITRNPowerDelivery.Context?) -> Judgement {
        guard let message = WITRNPowerDelivery(raw, context: context) else {
            return (.noFrame(.implausibleField(offset: 1)), nil)
        }
        return (.good(.other(message)), nil)
    }
}
