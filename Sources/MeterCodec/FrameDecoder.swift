/// Splits a stream of bytes from a meter into checked frames.
///
/// A value: bytes go in through `append`, then `next` is called until it returns nil. It accepts any input: noise
/// becomes a counted `skipped`, and the decoder resynchronises with the next good frame by itself.
package protocol FrameDecoder: Sendable {
    mutating func append(_ bytes: [UInt8])
    mutating func next() -> DecodeStep?
    /// The bytes of the frame that `next` returned last, valid until the next `append`.
    var frameBytes: [UInt8] { get }
    /// Number of bytes that wait for the rest of their frame.
    var pendingCount: Int { get }
    /// Discards a partial frame, for example because its rest is overdue.
    ///
    /// - Returns: the number of discarded bytes.
    mutating func reset() -> Int
}

/// A decoder that keeps waiting bytes in a `ReceiveBuffer`, so that only `next` is left to write.
package protocol BufferedFrameDecoder: FrameDecoder {
    /// Owned by the decoder; nobody else writes to it.
    var buffer: ReceiveBuffer { get set }
}

extension BufferedFrameDecoder {
    package mutating func append(_ bytes: [UInt8]) { buffer.append(bytes) }

    package var frameBytes: [UInt8] { buffer.lastTaken }

    package var pendingCount: Int { buffer.count }

    package mutating func reset() -> Int {
        defer { buffer.removeAll() }
        return buffer.count
    }
}

/// A decoder of frames that begin with a byte of their own.
package protocol MarkedFrameDecoder: BufferedFrameDecoder {
    /// The first byte of a frame.
    static var startMark: UInt8 { get }
    /// Another first byte, if there are two kinds of frames.
    static var otherStartMark: UInt8? { get }
}

extension MarkedFrameDecoder {
    package static var otherStartMark: UInt8? { nil }

    /// Skips the first byte, and all behind it up to the next one with which a frame may begin.
    package mutating func skip(_ error: CodecError) -> DecodeStep {
        let first = buffer.firstOffset(of: Self.startMark, from: 1) ?? buffer.count
        let count = min(first, Self.otherStartMark.flatMap { buffer.firstOffset(of: $0, from: 1) } ?? buffer.count)
        buffer.drop(count)
        return .skipped(count: count, because: error)
    }

    /// Takes or skips the first `length` bytes, or skips to the next start.
    package mutating func step(_ verdict: FrameVerdict, length: Int) -> DecodeStep {
        switch verdict {
        case .good(let frame):
            buffer.take(length)
            return .frame(frame)
        case .refused(let error):
            buffer.drop(length)
            return .skipped(count: length, because: error)
        case .noFrame(let error):
            return skip(error)
        }
    }
}

/// What bytes are that begin like a frame and are as many.
package enum FrameVerdict: Sendable {
    case good(Frame)
    /// A frame that nobody can use.
    case refused(CodecError)
    /// Not a frame: what looked like its beginning were ordinary bytes.
    case noFrame(CodecError)
}

package enum DecodeStep: Sendable {
    case frame(Frame)
    /// Bytes that belong to no good frame were skipped.
    case skipped(count: Int, because: CodecError)
}
