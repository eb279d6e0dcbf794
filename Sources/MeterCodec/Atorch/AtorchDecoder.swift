import Domain

/// Splits bytes from an Atorch meter into reports and replies, regardless of Bluetooth fragmentation.
///
/// A message starts with FF 55 and a type byte: 01 for a report, 02 for a reply. Several models send an unexplained
/// check byte in reports (Docs/Protocols/Atorch.md#check-byte). So reports are judged by shape: a known type, plausible
/// values, zeros in unused bytes, and no other message starting inside. Once a meter has proved to send the known check
/// byte, its reports need that byte.
///
/// A load answers queries in the same stream (Docs/Protocols/Atorch.md#loads-the-px100-queries). Answers and reports
/// may contain each other's first bytes: the message that began first is read completely. An answer without a pending
/// query is skipped.
package struct AtorchDecoder: BufferedFrameDecoder {
    package var buffer = ReceiveBuffer(capacity: 256)
    private var score = CheckScore()
    private let enforcesCheck: Bool
    private let speakers: Speakers

    package enum Speakers: Sendable {
        case meter
        case load
        /// A load and its host, recorded together: the host's bytes contain the queries.
        case loadAndHost
    }

    /// Pending query; nil if none.
    package var asked: PX100Query?
    /// Whether an order awaits its confirmation, a single byte that is otherwise ignored.
    package var awaitsDone = false

    /// - Parameter enforcesCheck: false accepts any check byte from any meter.
    package init(enforcesCheck: Bool = true, from speakers: Speakers = .meter) {
        self.enforcesCheck = enforcesCheck
        self.speakers = speakers
    }

    /// Discards a partial answer whose rest is overdue. Keeps a partial report.
    mutating func discardAnswer() -> Int {
        guard buffer.count > 0, buffer[0] == PX100.answerStart.0 else { return 0 }
        return reset()
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
        case .answer(let answer):
            if case .done = answer { awaitsDone = false } else { asked = nil }
            buffer.take(answer == .done ? 1 : PX100.answerLength)
            return .frame(.other(answer))
        case .request(let message, let length):
            asked = if case .query(let query) = message { query } else { nil }
            awaitsDone = if case .order = message { true } else { false }
            buffer.take(length)
            return .frame(.other(message))
        }
    }

    private enum Verdict {
        case wait
        case rubbish(count: Int, CodecError)
        case report(AtorchReport)
        case reply(AtorchReply)
        case answer(PX100Answer)
        case request(PX100Message, length: Int)
    }

    private func judge(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard let first = raw.first else { return .wait }
        guard mayStart(raw, at: 0) else { return .rubbish(count: nextStart(raw), .noStartMark(found: first)) }
        switch first {
        case PX100.done: return .answer(.done)
        case PX100.answerStart.0: return judgeAnswer(raw)
        case PX100.requestStart.0: return judgeRequest(raw)
        default: break
        }
        guard raw.count >= 4 else { return .wait }
        switch raw.u8(2) {
        case 0x01: return judgeReport(raw)
        case 0x02: return judgeReply(raw)
        default: return judgeCommand(raw)
        }
    }

    private func judgeAnswer(_ raw: UnsafeRawBufferPointer) -> Verdict {
        for (offset, byte) in [(5, PX100.answerEnd.0), (6, PX100.answerEnd.1)]
        where offset < raw.count && raw.u8(offset) != byte {
            return .rubbish(count: nextStart(raw), .implausibleField(offset: offset))
        }
        guard raw.count >= PX100.answerLength else { return .wait }
        guard let asked else { return .rubbish(count: PX100.answerLength, .unasked) }
        let value = raw.u24BE(2)
        guard asked.allows(value) else { return .rubbish(count: PX100.answerLength, .implausibleField(offset: 2)) }
        return .answer(.value(value, of: asked))
    }

    private func judgeRequest(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard raw.count >= PX100.requestLength else { return .wait }
        guard raw.u8(5) == PX100.requestEnd else {
            return .rubbish(count: nextStart(raw), .implausibleField(offset: 5))
        }
        let code = raw.u8(2)
        let message: PX100Message =
            if let query = PX100Query(rawValue: code), raw.u16BE(3) == 0 {
                .query(query)
            } else if let order = PX100Order(code: code, raw.u8(3), raw.u8(4)) {
                .order(order)
            } else {
                .unknown(code: code)
            }
        return .request(message, length: PX100.requestLength)
    }

    private func judgeCommand(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard raw.count >= AtorchCommand.length else { return .wait }
        let command = UnsafeRawBufferPointer(rebasing: raw.prefix(AtorchCommand.length))
        guard AtorchCheck.byte(ofMessage: command) == raw.u8(AtorchCommand.length - 1) || !enforcesCheck else {
            return .rubbish(count: nextStart(raw), .implausibleField(offset: AtorchCommand.length - 1))
        }
        return .request(.command(raw.u8(4)), length: AtorchCommand.length)
    }

    private func judgeReport(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard let type = AtorchReportType(rawValue: raw.u8(3)) else {
            return .rubbish(count: nextStart(raw), .unknownModel(word: UInt32(raw.u8(3))))
        }
        guard raw.count >= AtorchReport.length else { return .wait }
        let report = UnsafeRawBufferPointer(rebasing: raw.prefix(AtorchReport.length))
        let isProved = score.proves(AtorchCheck.rule(ofReport: report))
        // Search only the report: the result must not depend on whether later bytes have already arrived in `raw`.
        if !isProved, let inner = (4..<AtorchReport.length).first(where: { starts(report, at: $0) }) {
            return .rubbish(count: inner, .truncated(have: inner))
        }
        if let offset = Self.implausibleOffset(report, type: type, isProved: isProved) {
            return .rubbish(count: nextStart(raw), .implausibleField(offset: offset))
        }
        if !isProved, enforcesCheck, let rule = score.trusted {
            let expected = AtorchCheck.byte(ofMessage: report, by: rule)
            let error = CodecError.wrongCheck(
                expected: UInt32(expected), found: UInt32(report.u8(AtorchReport.length - 1)))
            return .rubbish(count: nextStart(raw), error)
        }
        return .report(AtorchReport(report, type: type))
    }

    /// Judges a reply. All known replies follow the rule `fromMessage`, even if the meter's reports do not.
    private func judgeReply(_ raw: UnsafeRawBufferPointer) -> Verdict {
        guard raw.count >= AtorchReply.length else { return .wait }
        guard raw.u16BE(5) == 0 else {
            return .rubbish(count: nextStart(raw), .implausibleField(offset: 5))
        }
        let expected = AtorchCheck.byte(ofMessage: UnsafeRawBufferPointer(rebasing: raw.prefix(AtorchReply.length)))
        let found = raw.u8(AtorchReply.length - 1)
        guard expected == found || !enforcesCheck else {
            // Not `wrongCheck`: `score` counts that error for reports.
            return .rubbish(count: nextStart(raw), .implausibleField(offset: AtorchReply.length - 1))
        }
        return .reply(AtorchReply(sender: raw.u8(3), code: raw.u8(4)))
    }

    private func mayStart(_ raw: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        switch raw.u8(offset) {
        case 0xFF: mayStartMessage(raw, at: offset)
        case PX100.answerStart.0: speakers != .meter && Self.may(raw, offset + 1, be: PX100.answerStart.1)
        case PX100.done: awaitsDone
        case PX100.requestStart.0: speakers == .loadAndHost && Self.may(raw, offset + 1, be: PX100.requestStart.1)
        default: false
        }
    }

    private func mayStartMessage(_ raw: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard raw.u8(offset) == 0xFF, Self.may(raw, offset + 1, be: 0x55) else { return false }
        guard offset + 2 < raw.count else { return true }
        let kind = raw.u8(offset + 2)
        return kind == 0x01 || kind == 0x02 || (kind == 0x11 && speakers == .loadAndHost)
    }

    private static func may(_ raw: UnsafeRawBufferPointer, _ offset: Int, be byte: UInt8) -> Bool {
        offset >= raw.count || raw.u8(offset) == byte
    }

    /// Requires both header bytes, because a single FF at the end may be an unknown check byte.
    private func starts(_ raw: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        offset + 1 < raw.count && mayStartMessage(raw, at: offset)
    }

    private func nextStart(_ raw: UnsafeRawBufferPointer) -> Int {
        raw.indices.dropFirst().first { mayStart(raw, at: $0) } ?? raw.count
    }

    /// - Parameter isProved: whether the check byte is correct. Then only vital fields are checked, because below 0 °C
    ///   other fields of a valid report have impossible values.
    private static func implausibleOffset(
        _ report: UnsafeRawBufferPointer, type: AtorchReportType, isProved: Bool
    ) -> Int? {
        for field in type.fields where !field.isPossible(in: report) {
            if isProved ? field.isVital : !field.isBelowZero(in: report) { return field.offset }
        }
        guard !isProved else { return nil }
        let minutes = type.timeOffset + 2
        for (offset, max) in [(minutes, 59), (minutes + 1, 59), (minutes + 2, AtorchReport.backlightMax)]
        where report.u8(offset) > max { return offset }
        if type == .usb {
            for limit in AtorchReportType.usbLimits where Int(report.u16BE(limit.offset)) > limit.max {
                return limit.offset
            }
        }
        if type == .ac, !AtorchReport(report, type: type).powerAgrees { return 10 }
        // If a byte was lost, the unused bytes contain the next report's start instead of 0.
        return type.usedOffset(in: report)
    }
}

/// Check byte rule of a meter, determined from its reports. Ignores reports that fail other checks, because the result
/// must not depend on fragmentation.
private struct CheckScore {
    /// Number of successive reports that establish or end trust in a rule. Three check bytes match by chance once in 16
    /// million.
    private static let needed = 3
    private(set) var trusted: AtorchCheck.Rule?
    private var candidate: AtorchCheck.Rule?
    private var against = 0

    /// Returns whether a check byte by `rule` proves the report. Until a rule is established, only the more common
    /// `fromMessage` counts, to halve the probability of a chance match.
    func proves(_ rule: AtorchCheck.Rule?) -> Bool { rule == trusted ?? .fromMessage }

    /// Counts a report. Three successive reports by one rule establish trust. Three that break it end trust, because
    /// the meter may have been replaced.
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
