import Domain
import MeterCodec
import Testing

struct PackedFrameTests {
    /// Its bytes as text, and their number as volts.
    private struct Content: PackedFrameContent {
        var bytes: [UInt8]

        init(_ raw: UnsafeRawBufferPointer) { bytes = Array(raw) }

        var model: ModelName? { nil }

        func forEachReading(_ body: (Reading) -> Void) {
            var reading = Reading()
            reading[.voltage] = Double(bytes.count)
            body(reading)
        }
    }

    private func frame(_ bytes: [UInt8]) -> PackedFrame { bytes.withUnsafeBytes { PackedFrame(Content.self, $0) } }

    @Test(arguments: [0, 1, 28, 63, 64])
    func frame_hasTheBytesThatWerePutIn(count: Int) {
        let bytes = (0..<count).map { UInt8($0 + 1) }
        let frame = frame(bytes)
        #expect((frame.content as? Content)?.bytes == bytes)
        #expect(frame.withBytes { Array($0) } == bytes)
        var volts: [Double] = []
        Frame.packed(frame).forEachReading { volts.append($0[.voltage] ?? .nan) }
        #expect(volts == [Double(count)])
    }

    @Test func whatDoesNotFit_isLeftOut() {
        let bytes = (0..<70).map { UInt8($0) }
        #expect((frame(bytes).content as? Content)?.bytes == Array(bytes.prefix(64)))
    }

    /// A frame of its own kind does not push out what another one tells.
    @Test func shape_isItsOwn() {
        let packed = Frame.packed(frame([1]))
        let boxed = Frame.other(packed.content)
        #expect(packed.shape != boxed.shape)
    }
}
