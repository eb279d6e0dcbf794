import MeterModel

/// Splits the bytes from an Atorch meter into reports and replies, however Bluetooth fragments them.
///
/// A message starts with FF 55 and a type byte: 01 for a report, 02 for a reply. A reply must have a correct check
/// byte. A report's check byte alone cannot decide, since several models send one that nobody has worked out
/// (Docs/Protocols/Atorch.md#check-byte). Its shape does: a known type, plausible values, nothing in the unused bytes,
/// and no other message starting before the end of this one. Once a meter has proved to send the known check byte, a
/// correct one is required as well.
package struct AtorchDecoder: BufferedFrameDecoder {
    package var buffer = ReceiveBuffer(capacity: 256)
    private var score = CheckScore()
    private let enforcesCheck: Bool

    /// - Parameter enforcesCheck: if false, any check byte is accepted, even from a meter that has proved to send the
    ///   known one.
    package init(enforcesCheck: Bool = true) {
        self.enforcesCheck = enforcesCheck
    }

    package mutating func next() -> DecodeStep? {
        switch buffer.withBytes(judge) {
        case .wait:
            return nil
        case .rubbish(let count, let error):
            if case .wrongCheck = error { score.note(nil) }
            buffer.drop(count)
            return .skipped(count: count, because: error)
        case .report(let report):
            score.note(report.checkRule)
            buffer.take(AtorchReport.length)
            return .frame(.atorchReport(report))
        case .reply(let reply):
            buffer.take(AtorchReply.length)
            return .frame(.atorchReply(reply))
        }
    }

    /// What the buffered bytes start with.
    private enum Verdict {
        case wait
        case rubbish(count: Int, CodecError)
        case report(AtorchReport)
        case reply(AtorchReply)
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard let first = raw.first else { return .wait }
        guard Self.mayStart(raw, at: 0) else { return .rubbish(count: Self.nextStart(raw), .noStartMark(found: first)) }
        guard raw.count >= 4 else { return .wait }
        return raw.u8(2) == 0x01 ? judgeReport(raw) : judgeReply(raw)
    }

    private func judgeReport(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard let type = AtorchReportType(rawValue: raw.u8(3)) else {
            return .rubbish(count: Self.nextStart(raw), .unknownModel(word: UInt32(raw.u8(3))))
        }
        guard raw.count >= AtorchReport.length else { return .wait }
        let report = UnsafeRawBufferPointer(rebasing: raw.prefix(AtorchReport.length))
        let isProved = score.proves(AtorchCheck.rule(ofReport: report))
        // Searches `report`, not `raw`: bytes after the report must not matter, since they may arrive later.
        if !isProved, let inner = (4..<AtorchReport.length).first(where: { Self.starts(report, at: $0) }) {
            return .rubbish(count: inner, .truncated(have: inner))
        }
        if let offset = Self.implausibleOffset(report, type: type, isProved: isProved) {
            return .rubbish(count: Self.nextStart(raw), .implausibleField(offset: offset))
        }
        if !isProved, enforcesCheck, let rule = score.trusted {
            let expected = AtorchCheck.byte(ofMessage: report, by: rule)
            let error = CodecError.wrongCheck(
                expected: UInt32(expected), found: UInt32(report.u8(AtorchReport.length - 1)))
            return .rubbish(count: Self.nextStart(raw), error)
        }
        return .report(AtorchReport(report, type: type))
    }

    /// Judges a reply. All known replies follow the check byte's rule, whatever the model's reports do.
    private func judgeReply(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard raw.count >= AtorchReply.length else { return .wait }
        guard raw.u16BE(5) == 0 else {
            return .rubbish(count: Self.nextStart(raw), .implausibleField(offset: 5))
        }
        let expected = AtorchCheck.byte(ofMessage: UnsafeRawBufferPointer(rebasing: raw.prefix(AtorchReply.length)))
        let found = raw.u8(AtorchReply.length - 1)
        guard expected == found || !enforcesCheck else {
            // Not `wrongCheck`: `score` counts that error for reports, and this is a reply.
            return .rubbish(count: Self.nextStart(raw), .implausibleField(offset: AtorchReply.length - 1))
        }
        return .reply(AtorchReply(sender: raw.u8(3), code: raw.u8(4)))
    }

    /// Whether a message may start at `offset`, as far as the bytes received so far can tell.
    private static func mayStart(_ raw: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard raw.u8(offset) == 0xFF else { return false }
        if offset + 1 < raw.count, raw.u8(offset + 1) != 0x55 { return false }
        if offset + 2 < raw.count, !(0x01...0x02).contains(raw.u8(offset + 2)) { return false }
        return true
    }

    /// Whether both header bytes are present and nothing after them rules out a message. An FF as the last byte may
    /// just as well be an unknown check byte, and is not a start by itself.
    private static func starts(_ raw: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        offset + 1 < raw.count && mayStart(raw, at: offset)
    }

    /// The offset of the next possible start after the first byte, or else of the end.
    private static func nextStart(_ raw: UnsafeRawBufferPointer) -> Int {
        raw.indices.dropFirst().first { mayStart(raw, at: $0) } ?? raw.count
    }

    /// The offset of the first field with an implausible value, if any.
    ///
    /// - Parameter isProved: whether the check byte is correct; if so, the unused bytes may hold anything.
    private static func implausibleOffset(
        _ report: UnsafeRawBufferPointer, type: AtorchReportType, isProved: Bool
    ) -> Int? {
        for field in type.fields where field.raw(in: report) > field.rawMax { return field.offset }
        let minutes = type.timeOffset + 2
        for (offset, max) in [(minutes, 59), (minutes + 1, 59), (minutes + 2, AtorchReport.backlightMax)]
        where report.u8(offset) > max { return offset }
        if type == .usb {
            for limit in AtorchReportType.usbLimits where Int(report.u16BE(limit.offset)) > limit.max {
                return limit.offset
            }
        }
        // If a byte was lost, the check byte ends up here, and the first byte of the next report in its place.
        return isProved ? nil : type.usedOffset(in: report)
    }
}

/// Which check byte a meter sends, judged by what it has sent so far. Reports that fail for another reason do not
/// count, so that the result does not depend on how the bytes are fragmented.
private struct CheckScore {
    /// Number of reports in a row that change the verdict; by chance this happens once in 16 million.
    private static let needed = 3
    /// The rule that the meter has proved to follow.
    private(set) var trusted: AtorchCheck.Rule?
    private var candidate: AtorchCheck.Rule?
    private var against = 0

    /// Whether following this rule proves a report. Until the meter has proved a rule, only the more common one counts:
    /// accepting either would double the odds of a match by chance.
    func proves(_ rule: AtorchCheck.Rule?) -> Bool { rule == trusted ?? .fromMessage }

    /// Notes the rule that a report follows, if any. Three in a row by the same rule establish trust; three in a row
    /// that follow another rule or none end it, since the meter at the other end may have changed, and a meter must not
    /// be ignored forever because of three bytes.
    mutating func note(_ rule: AtorchCheck.Rule?) {
        guard rule != trusted else {
            against = 0
            return
        }
        against = trusted != nil || rule == candidate ? against + 1 : 1
        candidate = rule
        guard against >= Self.needed else { return }
        trusted = trusted == nil ? rule : nil
        against = 0
    }
}
