import SimulatedPort
import Testing

struct StreamFramingTests {
    @Test func raw_isWhateverCame() {
        var framing = StreamFraming(.raw)
        #expect(framing.unwrap([0, 1, 2]) == [[0, 1, 2]])
        #expect(framing.unwrap([]).isEmpty)
        #expect(framing.wrap([5, 6]) == [5, 6])
    }

    @Test func framed_takesMessagesInWhateverPiecesTheyCome() {
        let stream: [UInt8] = [0, 2, 0xAA, 0xBB, 0, 0, 0, 1, 0xCC, 0, 3, 0xDD]
        for length in 1...stream.count {
            var framing = StreamFraming(.framed)
            var messages: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: length) {
                messages += framing.unwrap(Array(stream[start..<min(start + length, stream.count)]))
            }
            #expect(messages == [[0xAA, 0xBB], [0xCC]], "pieces of \(length)")
            #expect(framing.unwrap([0xEE, 0xFF]) == [[0xDD, 0xEE, 0xFF]], "pieces of \(length)")
        }
    }

    @Test func framed_givesBackWhatItWrapped_howeverLong() {
        for length in [1, 255, 256, StreamFraming.longest, StreamFraming.longest + 1] {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            var framing = StreamFraming(.framed)
            #expect(framing.unwrap(framing.wrap(message)).flatMap { $0 } == message, "\(length) bytes")
        }
        #expect(StreamFraming(.framed).wrap([]).isEmpty)
    }
}
