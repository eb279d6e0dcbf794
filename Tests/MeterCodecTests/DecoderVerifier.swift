import MeterCodec
import MeterModel
import MeterSimulator
import Testing

/// Feeds one decoder the same bytes in every way a link can deliver them, and checks that it makes the same of them.
///
/// Every decoder's tests call it; a new decoder that passes it keeps its promises on chunking, rubbish and truncation.
enum DecoderVerifier {
    /// - Parameters:
    ///   - frames: whole good frames, which the decoder must give back one for one.
    ///   - make: a fresh decoder.
    ///   - rubbish: bytes that open no frame, put before, between and behind the frames.
    static func verify(
        frames: [[UInt8]],
        rubbish: [UInt8] = [0x00, 0x13, 0x37],
        sourceLocation: SourceLocation = #_sourceLocation,
        make: () -> any FrameDecoder
    ) {
        let stream = frames.flatMap { $0 }
        for size in [1, 2, 3, 7, 20, 64, max(1, stream.count)] {
            let (found, skipped) = feed(stream, chunk: size, to: make())
            #expect(
                found.map(Hex.encode) == frames.map(Hex.encode), "in pieces of \(size)", sourceLocation: sourceLocation)
            #expect(skipped == 0, "in pieces of \(size)", sourceLocation: sourceLocation)
        }
        let dirty = rubbish + frames.flatMap { $0 + rubbish }
        for size in [1, 5, dirty.count] {
            let (found, skipped) = feed(dirty, chunk: size, to: make())
            #expect(found == frames, "among rubbish, in pieces of \(size)", sourceLocation: sourceLocation)
            #expect(skipped <= rubbish.count * (frames.count + 1), sourceLocation: sourceLocation)
        }
        for frame in frames {
            for length in 0..<frame.count {
                let (found, _) = feed(Array(frame.prefix(length)), chunk: 16, to: make())
                #expect(found.isEmpty, "cut to \(length) bytes", sourceLocation: sourceLocation)
            }
        }
        survivesMutation(of: stream, make: make)
    }

    /// Any bytes at all: no trap, and no byte counted twice. The seeds are fixed, so that a failure replays.
    static func survivesMutation(
        of stream: [UInt8], rounds: Int = 300, longestFrame: Int = 4096, make: () -> any FrameDecoder
    ) {
        for seed in 0..<UInt64(rounds) {
            var noise = SimulatorNoise(seed: seed)
            var bytes = stream + noise.bytes(40)
            for _ in 0..<(1 + seed % 8) {
                bytes[Int(noise.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: noise.next())
            }
            let (found, skipped) = feed(bytes, chunk: 1 + Int(seed % 50), to: make())
            let accounted = found.reduce(0) { $0 + $1.count } + skipped
            #expect(accounted <= bytes.count, "seed \(seed)")
            #expect(bytes.count - accounted <= longestFrame, "left waiting, seed \(seed)")
        }
    }

    static func feed(
        _ bytes: [UInt8], chunk: Int, to start: any FrameDecoder
    ) -> (frames: [[UInt8]], skipped: Int) {
        var decoder = start
        var frames: [[UInt8]] = []
        var skipped = 0
        for begin in stride(from: 0, to: bytes.count, by: chunk) {
            decoder.append(Array(bytes[begin..<min(begin + chunk, bytes.count)]))
            while let step = decoder.next() {
                switch step {
                case .frame: frames.append(decoder.frameBytes)
                case .skipped(let count, _): skipped += count
                }
            }
        }
        return (frames, skipped)
    }
}

/// The frames in some bytes, for tests that look at values.
func decodedFrames(_ bytes: [UInt8], with start: any FrameDecoder) -> [Frame] {
    var decoder = start
    decoder.append(bytes)
    var frames: [Frame] = []
    while let step = decoder.next() {
        if case .frame(let frame) = step { frames.append(frame) }
    }
    return frames
}

/// The readings in some bytes, oldest first.
func decodedReadings(_ bytes: [UInt8], with start: any FrameDecoder) -> [Reading] {
    var readings: [Reading] = []
    for frame in decodedFrames(bytes, with: start) {
        frame.content.forEachReading { readings.append($0) }
    }
    return readings
}

/// Bytes from hex in a test, which are known to be good.
func hex(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
    try #require(Hex.decode(text), sourceLocation: sourceLocation)
}
