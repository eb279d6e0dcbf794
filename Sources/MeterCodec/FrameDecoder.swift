/// Cuts a stream of bytes from a meter into checked frames.
///
/// A value: bytes go in with `append`, `next` is called until it returns nil. Total on any input: rubbish becomes a
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

package enum DecodeStep: Sendable {
    case frame(Frame)
    /// Bytes that belong to no good frame were passed over.
    case skipped(count: Int, because: CodecError)
}
