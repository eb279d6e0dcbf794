import Domain
import MeterCodec
import MeterSimulator
import Testing

/// Feeds a decoder the same bytes in every way a link can deliver them, and checks that the result is always the same.
///
/// Every decoder's tests call it; a decoder that passes handles fragments, noise and truncation as promised.
enum DecoderVerifier {
    /// - Parameters:
    ///   - frames: whole good frames, which the decoder must return one for one.
    ///   - make: creates a fresh decoder.
    ///   - rubbish: bytes that do not start a frame, put before, between and after the frames.
    ///   - falseStarts: bytes that only look like the start of a frame, put in the same places one at a time.
    ///   - longestPending: the most bytes that may ever wait: one less than the family's longest frame.
    ///   - firstAfterReset: what a decoder that was reset skips before it is as new.
    ///   - guessesEnds: whether what has not arrived yet may decide where a damaged frame ends.
    static func verify(
        frames: [[UInt8]],
        rubbish: [UInt8] = [0x00, 0x13, 0x37],
        falseStarts: [[UInt8]] = [],
        longestPending: Int = 4096,
        firstAfterReset: [UInt8] = [],
        guessesEnds: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation,
        make: () -> any FrameDecoder
    ) {
        let stream = frames.flatMap { $0 }
        for size in [1, 2, 3, 7, 20, 64, max(1, stream.count)] {
            let outcome = account(stream, chunk: size, to: make(), longestPending, sourceLocation)
            #expect(
                outcome.frames.map(Hex.encode) == frames.map(Hex.encode), "in pieces of \(size)",
                sourceLocation: sourceLocation)
            #expect(outcome.skipped == 0, "in pieces of \(size)", sourceLocation: sourceLocation)
            #expect(outcome.pending == 0, "in pieces of \(size)", sourceLocation: sourceLocation)
        }
        for rubbish in [rubbish] + falseStarts {
            let dirty = rubbish + frames.flatMap { $0 + rubbish }
            for size in [1, 5, dirty.count] {
                let outcome = account(dirty, chunk: size, to: make(), longestPending, sourceLocation)
                #expect(
                    outcome.frames == frames, "among \(Hex.encode(rubbish)), in pieces of \(size)",
                    sourceLocation: sourceLocation)
            }
        }
        for frame in frames {
            for length in 0..<frame.count {
                let outcome = account(
                    Array(frame.prefix(length)), chunk: 16, to: make(), longestPending, sourceLocation)
                #expect(outcome.frames.isEmpty, "cut to \(length) bytes", sourceLocation: sourceLocation)
            }
        }
        survivesMutation(
            of: stream, longestPending: longestPending, firstAfterReset: firstAfterReset, guessesEnds: guessesEnds,
            sourceLocation: sourceLocation, make: make)
    }

    /// Feeds any bytes at all: no trap, each byte is counted once, it does not matter in which pieces they came, and a
    /// decoder that was reset is as new. The seeds are fixed, so that a failure can be replayed.
    static func survivesMutation(
        of stream: [UInt8], rounds: Int = 300, longestPending: Int = 4096, firstAfterReset: [UInt8] = [],
        guessesEnds: Bool = false, sourceLocation: SourceLocation = #_sourceLocation, make: () -> any FrameDecoder
    ) {
        let good = outcome(of: stream, chunk: stream.count, in: make())
        for seed in 0..<UInt64(rounds) {
            var noise = SplitMix64(seed: seed)
            var bytes = stream + noise.bytes(40)
            for _ in 0..<(1 + seed % 8) {
                bytes[Int(noise.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: noise.next())
            }
            // Some are lost or put in, so that frames lie in other places.
            let place = Int(noise.next() % UInt64(bytes.count))
            switch seed % 3 {
            case 0: bytes.removeSubrange(place..<min(bytes.count, place + 1 + Int(noise.next() % 8)))
            case 1: bytes.insert(contentsOf: noise.bytes(1 + Int(noise.next() % 8)), at: place)
            default: break
            }
            let chunk = 1 + Int(seed % 50)
            let outcome = account(bytes, chunk: chunk, to: make(), longestPending, sourceLocation)
            for other in guessesEnds ? [] : [1, bytes.count] {
                let same = account(bytes, chunk: other, to: make(), longestPending, sourceLocation)
                if same.frames != outcome.frames || same.skipped != outcome.skipped || same.pending != outcome.pending {
                    Issue.record(
                        "seed \(seed): pieces of \(chunk) and \(other) differ: \(outcome.frames.count), \(outcome.skipped), \(outcome.pending) and \(same.frames.count), \(same.skipped), \(same.pending) of \(Hex.encode(bytes))",
                        sourceLocation: sourceLocation)
                }
            }
            var used = make()
            let left = run(bytes, chunk: chunk, in: &used).pending
            let dropped = used.reset()
            _ = run(firstAfterReset, chunk: 1, in: &used)
            let again = run(stream, chunk: stream.count, in: &used)
            if dropped != left || again != good {
                Issue.record("seed \(seed): a decoder that was reset differs: \(again)", sourceLocation: sourceLocation)
            }
        }
    }

    struct Outcome: Equatable {
        var frames: [[UInt8]] = []
        var skipped = 0
        var pending = 0
        /// The most bytes that ever waited after `next` had returned nil.
        var pendingMax = 0
    }

    static func feed(_ bytes: [UInt8], chunk: Int, to start: any FrameDecoder) -> (frames: [[UInt8]], skipped: Int) {
        let outcome = outcome(of: bytes, chunk: chunk, in: start)
        return (outcome.frames, outcome.skipped)
    }

    /// Like `feed`, but checks that each byte is counted exactly once: in a frame, as skipped or as waiting.
    private static func account(
        _ bytes: [UInt8], chunk: Int, to start: any FrameDecoder, _ longestPending: Int,
        _ sourceLocation: SourceLocation
    ) -> Outcome {
        let outcome = outcome(of: bytes, chunk: chunk, in: start)
        let framed = outcome.frames.reduce(0) { $0 + $1.count }
        let counted = framed + outcome.skipped + outcome.pending
        if counted != bytes.count || outcome.pendingMax > longestPending {
            #expect(counted == bytes.count, "of \(Hex.encode(bytes))", sourceLocation: sourceLocation)
            #expect(outcome.pendingMax <= longestPending, "of \(Hex.encode(bytes))", sourceLocation: sourceLocation)
        }
        return outcome
    }

    private static func outcome(of bytes: [UInt8], chunk: Int, in start: any FrameDecoder) -> Outcome {
        var decoder = start
        return run(bytes, chunk: chunk, in: &decoder)
    }

    private static func run(_ bytes: [UInt8], chunk: Int, in decoder: inout any FrameDecoder) -> Outcome {
        var outcome = Outcome()
        for begin in stride(from: 0, to: bytes.count, by: chunk) {
            decoder.append(Array(bytes[begin..<min(begin + chunk, bytes.count)]))
            while let step = decoder.next() {
                switch step {
                case .frame: outcome.frames.append(decoder.frameBytes)
                case .skipped(let count, _): outcome.skipped += count
                }
            }
            outcome.pendingMax = max(outcome.pendingMax, decoder.pendingCount)
        }
        outcome.pending = decoder.pendingCount
        return outcome
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

/// Bytes from hexadecimal text in a test, which must be valid.
func hex(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
    try #require(Hex.decode(text), sourceLocation: sourceLocation)
}
