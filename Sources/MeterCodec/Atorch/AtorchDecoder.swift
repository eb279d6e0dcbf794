import MeterModel

/// Cuts an Atorch meter's bytes into reports and replies, whatever pieces Bluetooth made of them.
///
/// Messages start with FF 55 and a byte that says which: 01 a report, 02 a reply. The check byte does not decide, since
/// several models send one that nobody has worked out (protocols.md 6.4); the shape does: a known type, volts, amperes,
/// minutes and seconds that can be, and no further message starting before the end of this one.
package struct AtorchDecoder: FrameDecoder {
    private var buffer = ReceiveBuffer(capacity: 256)

    package init() {}

    package mutating func append(_ bytes: [UInt8]) {
        buffer.append(bytes)
    }

    package mutating func next() -> DecodeStep? {
        switch buffer.withBytes(Self.judge) {
        case .wait:
            return nil
        case .rubbish(let count, let error):
            buffer.drop(count)
            return .skipped(count: count, because: error)
        case .report(let report):
            buffer.take(AtorchReport.length)
            return .frame(.atorchReport(report))
        case .reply(let reply):
            buffer.take(AtorchReply.length)
            return .frame(.atorchReply(reply))
        }
    }

    package var frameBytes: [UInt8] { buffer.lastTaken }
    package var pendingCount: Int { buffer.count }

    package mutating func reset() -> Int {
        defer { buffer.removeAll() }
        return buffer.count
    }

    /// What the waiting bytes begin with.
    private enum Verdict {
        case wait
        case rubbish(count: Int, CodecError)
        case report(AtorchReport)
        case reply(AtorchReply)
    }

    private static func judge(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard let first = raw.first else { return .wait }
        guard mayStart(raw, at: 0) else { return .rubbish(count: nextStart(raw), .noStartMark(found: first)) }
        guard raw.count >= 4 else { return .wait }
        return raw.u8(2) == 0x01 ? judgeReport(raw) : judgeReply(raw)
    }

    private static func judgeReport(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard let type = AtorchReportType(rawValue: raw.u8(3)) else {
            return .rubbish(count: nextStart(raw), .unknownModel(word: UInt32(raw.u8(3))))
        }
        guard raw.count >= AtorchReport.length else { return .wait }
        let report = UnsafeRawBufferPointer(rebasing: raw.prefix(AtorchReport.length))
        if AtorchCheck.byte(ofMessage: report) != report.u8(AtorchReport.length - 1),
            // Not in `raw`: what has come behind the report must not matter, as it may come later.
            let inner = (4..<AtorchReport.length).first(where: { starts(report, at: $0) })
        {
            return .rubbish(count: inner, .truncated(have: inner))
        }
        if let offset = implausibleOffset(report, type: type) {
            return .rubbish(count: nextStart(raw), .implausibleField(offset: offset))
        }
        return .report(AtorchReport(report, type: type))
    }

    private static func judgeReply(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard raw.count >= AtorchReply.length else { return .wait }
        guard let reply = AtorchReply(first: raw.u8(3), second: raw.u8(4)), raw.u16BE(5) == 0 else {
            return .rubbish(count: nextStart(raw), .implausibleField(offset: 3))
        }
        return .reply(reply)
    }

    /// Whether a message starts at `offset`, as far as the bytes that are there can tell.
    private static func mayStart(_ raw: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard raw.u8(offset) == 0xFF else { return false }
        if offset + 1 < raw.count, raw.u8(offset + 1) != 0x55 { return false }
        if offset + 2 < raw.count, !(0x01...0x02).contains(raw.u8(offset + 2)) { return false }
        return true
    }

    /// Whether both header bytes are there and nothing behind them speaks against a message. A last byte FF may as well
    /// be an unknown check byte, and is no start by itself.
    private static func starts(_ raw: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        offset + 1 < raw.count && mayStart(raw, at: offset)
    }

    /// The offset of the next possible start behind the first byte, or of the end.
    private static func nextStart(_ raw: UnsafeRawBufferPointer) -> Int {
        raw.indices.dropFirst().first { mayStart(raw, at: $0) } ?? raw.count
    }

    private static func implausibleOffset(_ report: UnsafeRawBufferPointer, type: AtorchReportType) -> Int? {
        for field in type.fields {
            if let rawMax = field.rawMax, field.raw(in: report) > rawMax { return field.offset }
        }
        let minutes = type.timeOffset + 2
        if report.u8(minutes) > 59 { return minutes }
        if report.u8(minutes + 1) > 59 { return minutes + 1 }
        return nil
    }
}
