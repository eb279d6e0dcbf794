/// Splits bytes from a board into lines. Lines that match their description become frames.
///
/// A line ends in a line feed; a carriage return before it is ignored. A line longer than `lengthMax` is skipped in
/// parts.
package struct LineDecoder: BufferedFrameDecoder {
    /// In bytes, without the line end.
    package static let lengthMax = 512

    package var buffer = ReceiveBuffer(capacity: 2 * lengthMax)
    private let parser: LineParser
    private var rest = Rest.none
    /// Reason why the last bytes were skipped.
    private(set) var lastSkip = Skip.misfit

    private enum Rest {
        case none
        case unseen
        case overlong
    }

    enum Skip {
        /// The rest of a line whose beginning was not received: a chance match would be a false measurement.
        case unseen
        case remark
        case misfit
    }

    /// - Parameter startsMidLine: whether the start of the first line may have been missed.
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

    /// Skips waiting bytes that cannot become a valid line.
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

    /// Discards the partial line in the buffer, and later its rest.
    package mutating func reset() -> Int {
        let count = buffer.count
        if count > 0 { rest = .unseen }
        buffer.removeAll()
        return count
    }
}
