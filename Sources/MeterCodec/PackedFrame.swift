package import MeterModel

/// A frame of a family without a case of its own in `Frame`: its bytes are inside the value, so that decoding one
/// allocates nothing.
package struct PackedFrame: Sendable {
    /// The most bytes that it holds.
    package static let lengthMax = 64

    private let bytes: InlineArray<64, UInt8>
    private let length: Int
    private let kind: any PackedFrameContent.Type

    /// - Parameter raw: at most `lengthMax` bytes, already checked by the family's decoder; any more are left out.
    package init(_ kind: any PackedFrameContent.Type, _ raw: UnsafeRawBufferPointer) {
        bytes = InlineArray(copying: raw)
        length = min(raw.count, Self.lengthMax)
        self.kind = kind
    }

    /// Runs `body` on the bytes.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withRawBytes { body(UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
    }

    /// What the family makes of it.
    package var content: any FrameContent { withBytes { kind.init($0) } }

    /// The same as `content.forEachReading`, without boxing the content: for the hot path.
    package func forEachReading(_ body: (Reading) -> Void) { read(as: kind, body) }

    private func read<Content: PackedFrameContent>(as kind: Content.Type, _ body: (Reading) -> Void) {
        withBytes { kind.init($0).forEachReading(body) }
    }
}

/// A value that can be made of the bytes of a `PackedFrame`.
package protocol PackedFrameContent: FrameContent {
    /// - Parameter raw: the bytes that the family's decoder has put into the frame.
    init(_ raw: UnsafeRawBufferPointer)
}
