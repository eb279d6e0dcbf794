/// Cuts a stream of bytes from a meter into checked frames.
///
/// A value: bytes go in with `append`, `next` is called until it returns nil. Total on any input: noise becomes a
/// counted `skipped`, and the decoder finds its way back to the next good frame by itself.
package protocol FrameDecoder: Sendable {
    mutating func append(_ bytes: [UInt8])
    mutating func next() -> DecodeStep?
    /// The bytes of the frame that `next` returned last, valid until the next `append`.
    var frameBytes: [UInt8] { get }
    /// How many bytes wait for the rest of their frame.
    var pendingCount: Int { get }
    /// Forgets half a frame, for example because its rest is overdue.
    ///
    /// - Returns: how many bytes that were.
    mutating func reset() -> Int
}

/// A decoder that keeps what waits in a `ReceiveBuffer`: all that is left to write is `next`.
package protocol BufferedFrameDecoder: FrameDecoder {
    /// The decoder's own; nobody else writes to it.
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
