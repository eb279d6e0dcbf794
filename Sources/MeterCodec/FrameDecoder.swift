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

package enum DecodeStep: Sendable {
    case frame(Frame)
    /// Bytes that belong to no good frame were skipped.
    case skipped(count: Int, because: CodecError)
}
