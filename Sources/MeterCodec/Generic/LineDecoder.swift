/// Splits the bytes from a board into lines, and takes those that fit their description as frames.
///
/// A line ends in a line feed; a carriage return before it counts for nothing. One that is longer than `lengthMax` is
/// skipped up to its end, in pieces as they come.
package struct LineDecoder: BufferedFrameDecoder {
    /// The longest line without its line end, in bytes.
    package static let lengthMax = 512

    package var buffer = ReceiveBuffer(capacity: 2 * lengthMax)
    private let parser: LineParser
    private var rest = Rest.none
    /// Why the bytes that `next` skipped last are no reading.
    private(set) var lastSkip = Skip.misfit

    /// What the bytes up to the next line end are the rest of.
    private enum Rest {
        case none
        /// A line whose beginning nobody saw.
        case unseen
        /// A line that is too long.
        case overlong
    }

    enum Skip {
        /// The rest of a line whose beginning was not seen: what fits by chance would be a false reading.
        case unseen
        case remark
        case misfit
    }

    /// - Parameters:
    ///   - startsMidLine: whether the first bytes may be the rest of a line.
    ///   - enforcesCheck: if false, lines with a wrong check are accepted too, where the description has one.
    package init(_ description: LineDescription, startsMidLine: Bool = false, enforcesCheck: Bool = true) {
        parser = LineParser(description: description, enforcesCheck: enforcesCheck)
        rest = startsMidLine ? .unseen : .none
    }

    package mutating func next() -> DecodeStep? {
        guard let end = buffer.firstOffset(of: UInt8(ascii: "\n")) else { return waiting() }
        let length = end + 1
        guard rest == .none, end <= Self.lengthMax else {
            let wasUnseen = rest == .unseen
            rest = .none
            return skip(
                length, because: wasUnseen ? .truncated(have: length) : .impossibleLength(length),
                wasUnseen ? .unseen : .misfit)
        }
        let verdict = buffer.withBytes { parser.judge(UnsafeRawBufferPointer(rebasing: $0[0..<end])) }
        switch verdict {
        case .reading(let frame):
            buffer.take(length)
            return .frame(.line(frame))
        case .remark: return skip(length, because: .noStartMark(found: buffer[0]), .remark)
        case .misfit(let error): return skip(length, because: error, .misfit)
        }
    }

    /// What to do while no line end is there.
    private mutating func waiting() -> DecodeStep? {
        let count = buffer.count
        guard count > 0 else { return nil }
        if rest == .none, count > Self.lengthMax { rest = .overlong }
        switch rest {
        case .none: return nil
        case .unseen: return skip(count, because: .truncated(have: count), .unseen)
        case .overlong: return skip(count, because: .impossibleLength(count), .misfit)
        }
    }

    private mutating func skip(_ count: Int, because error: CodecError, _ kind: Skip) -> DecodeStep {
        buffer.drop(count)
        lastSkip = kind
        return .skipped(count: count, because: error)
    }

    /// Discards the beginning of a line, if there is one, and with it what still comes of that line.
    package mutating func reset() -> Int {
        let count = buffer.count
        if count > 0 { rest = .unseen }
        buffer.removeAll()
        return count
    }
}
