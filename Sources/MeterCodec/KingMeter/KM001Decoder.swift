import Domain

/// Splits bytes from a KM001 Pro or an ACD15P into reports of 64 bytes.
///
/// After noise, resynchronises at the next report with a valid start and plausible values. Skips samples of the other
/// dialect, because they are not from the configured model.
package struct KM001Decoder: MarkedFrameDecoder {
    package static var startMark: UInt8 { KM001Report.startMark }
    package var buffer = ReceiveBuffer(capacity: 64 * KM001Report.length)
    private let dialect: KM001Dialect

    package init(_ dialect: KM001Dialect) {
        self.dialect = dialect
    }

    package mutating func next() -> DecodeStep? {
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == KM001Report.startMark else { return skip(.noStartMark(found: buffer[0])) }
        for (place, byte) in KM001Report.mark.enumerated() {
            guard buffer.count > place + 2 else { return nil }
            guard buffer[place + 2] == byte else { return skip(.noStartMark(found: buffer[place + 2])) }
        }
        guard buffer.count >= KM001Report.length else { return nil }
        let verdict = buffer.withBytes { judge(UnsafeRawBufferPointer(rebasing: $0.prefix(KM001Report.length))) }
        return step(verdict, length: KM001Report.length)
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> FrameVerdict {
        guard let found = KM001Report.dialect(of: raw) else {
            // Accept the report of unknown meaning that a KM001 Pro sends between samples.
            let isKnown = dialect == .km001Pro && raw.u8(1) == KM001Report.layout(of: .acd15p).meaningful
            return isKnown
                ? .good(.packed(PackedFrame(KM001Report.self, raw))) : .noFrame(.implausibleField(offset: 1))
        }
        guard found == dialect else { return .noFrame(.unknownModel(word: UInt32(raw.u8(1)))) }
        if let offset = KM001Report.implausibleOffset(raw, dialect) {
            return .noFrame(.implausibleField(offset: offset))
        }
        return .good(.packed(PackedFrame(KM001Report.self, raw)))
    }
}
