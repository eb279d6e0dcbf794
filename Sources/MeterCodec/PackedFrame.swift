package import Domain

/// A frame of a family without a case in `Frame`. The value contains the bytes, so decoding allocates nothing.
package struct PackedFrame: Sendable {
    package static let lengthMax = 64

    private let bytes: InlineArray<64, UInt8>
    private let length: Int
    private let kind: any PackedFrameContent.Type

    /// - Parameter raw: bytes that the family's decoder has checked; bytes beyond `lengthMax` are dropped.
    package init(_ kind: any PackedFrameContent.Type, _ raw: UnsafeRawBufferPointer) {
        bytes = InlineArray(copying: raw)
        length = min(raw.count, Self.lengthMax)
        self.kind = kind
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withRawBytes { body(UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
    }

    package var content: any FrameContent { withBytes { kind.init($0) } }

    // MARK: The same as of `content`, without boxing it: for the hot path

    package func forEachReading(_ body: (Reading) -> Void) { forEachReading(as: kind, body) }
    package func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void) { forEachSample(as: kind, body) }
    package var sampleTicks: SampleTicks? { sampleTicks(as: kind) }
    package var countingGroup: Int? { countingGroup(as: kind) }
    package var powerDelivery: PDReport? { powerDelivery(as: kind) }
    package var device: DeviceInfo? { device(as: kind) }

    private func forEachReading<Content: PackedFrameContent>(as kind: Content.Type, _ body: (Reading) -> Void) {
        withBytes { kind.init($0).forEachReading(body) }
    }

    private func forEachSample<Content: PackedFrameContent>(
        as kind: Content.Type, _ body: (Reading, _ tick: UInt16?) -> Void
    ) {
        withBytes { kind.init($0).forEachSample(body) }
    }

    private func sampleTicks<Content: PackedFrameContent>(as kind: Content.Type) -> SampleTicks? {
        withBytes { kind.init($0).sampleTicks }
    }

    private func countingGroup<Content: PackedFrameContent>(as kind: Content.Type) -> Int? {
        withBytes { kind.init($0).countingGroup }
    }

    private func powerDelivery<Content: PackedFrameContent>(as kind: Content.Type) -> PDReport? {
        withBytes { kind.init($0).powerDelivery }
    }

    private func device<Content: PackedFrameContent>(as kind: Content.Type) -> DeviceInfo? {
        withBytes { kind.init($0).device }
    }
}

package protocol PackedFrameContent: FrameContent {
    init(_ raw: UnsafeRawBufferPointer)
}
