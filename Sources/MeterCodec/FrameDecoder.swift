/// Splits a stream of bytes from a meter into checked frames.
///
/// The caller passes bytes to `append`, then calls `next` until it returns nil. Noise is reported as `skipped`.
package protocol FrameDecoder: Sendable {
    mutating func append(_ bytes: [UInt8])
    mutating func next() -> DecodeStep?
    /// Bytes of the last frame from `next`, valid until the next `append`.
    var frameBytes: [UInt8] { get }
    /// Number of bytes of a partial frame.
    var pendingCount: Int { get }
    /// Discards a partial frame and returns the number of its bytes.
    mutating func reset() -> Int
}

/// Stores pending bytes in a `ReceiveBuffer`, so that a decoder only has to implement `next`.
package protocol BufferedFrameDecoder: FrameDecoder {
    /// Pending bytes, which only the decoder may change.
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

package protocol MarkedFrameDecoder: BufferedFrameDecoder {
    static var startMark: UInt8 { get }
    /// Second start mark, if there are two kinds of frames.
    static var otherStartMark: UInt8? { get }
}

extension MarkedFrameDecoder {
    package static var otherStartMark: UInt8? { nil }

    /// Skips all bytes before the next start mark, and at least one.
    package mutating func skip(_ error: CodecError) -> DecodeStep {
        let first = buffer.firstOffset(of: Self.startMark, from: 1) ?? buffer.count
        let count = min(first, Self.otherStartMark.flatMap { buffer.firstOffset(of: $0, from: 1) } ?? buffer.count)
        buffer.drop(count)
        return .skipped(count: count, because: error)
    }

    /// Follows `verdict`: returns the first `length` bytes as a frame, skips them, or skips to the next start mark.
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

/// Judgement of bytes that look like a frame.
package enum FrameVerdict: Sendable {
    case good(Frame)
    /// A complete frame with, for example, an impossible value. Skipped as a whole.
    case refused(CodecError)
    /// Bytes that only looked like the beginning of a frame.
    case noFrame(CodecError)
}

package enum DecodeStep: Sendable {
    case frame(Frame)
    case skipped(count: Int, because: CodecError)
}
