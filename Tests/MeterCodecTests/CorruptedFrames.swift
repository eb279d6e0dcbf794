import Domain
import MeterCodec
import Testing

/// What becomes of damaged frames: how many values come out that no good frame holds.
///
/// Each damaged frame is followed by two good ones, which have to be found again. The kinds of damage take turns: a bit
/// turned over, a byte replaced, two to four bytes replaced, one to eight bytes lost, one to eight bytes put in, and the
/// beginning of one frame with the end of another.
struct CorruptedFrames {
    /// Damaged frames that were tried.
    private(set) var count = 0
    /// Readings that hold a value which no good frame has in its place.
    private(set) var falseReadings = 0
    /// Damaged frames after which the second good one was not found.
    private(set) var lost = 0

    /// - Parameters:
    ///   - frames: good ones, each with one reading.
    ///   - seed: the same seed makes the same damage.
    init(of frames: [[UInt8]], count: Int = 100_000, seed: UInt64 = 1, make: () -> any FrameDecoder) {
        var rng = SplitMix64(seed: seed)
        let good = Set(frames.flatMap { decodedReadings($0, with: make()) })
        for number in 0..<count {
            let frame = frames[Self.pick(frames.count, &rng)]
            let damaged = Self.damage(frame, frames, kind: number % 6, &rng)
            guard damaged != frame else { continue }
            self.count += 1
            let (next, last) = (frames[Self.pick(frames.count, &rng)], frames[Self.pick(frames.count, &rng)])
            var decoder = make()
            decoder.append(damaged + next + last)
            var foundLast = false
            while let step = decoder.next() {
                guard case .frame(let found) = step else { continue }
                foundLast = decoder.frameBytes == last
                found.forEachReading { if !good.contains($0) { falseReadings += 1 } }
            }
            if !foundLast { lost += 1 }
        }
        print(
            "\(self.count) damaged frames (seed \(seed)): \(falseReadings) false readings, \(lost) times the next was lost"
        )
    }

    private static func pick(_ count: Int, _ rng: inout SplitMix64) -> Int { Int(rng.next() % UInt64(count)) }

    static func damage(
        _ frame: [UInt8], _ frames: [[UInt8]], kind: Int, _ rng: inout SplitMix64
    ) -> [UInt8] {
        var bytes = frame
        let place = pick(bytes.count, &rng)
        switch kind {
        case 0: bytes[place] ^= 1 << UInt8(pick(8, &rng))
        case 1: bytes[place] = UInt8(pick(256, &rng))
        case 2:
            for _ in 0..<(2 + pick(3, &rng)) { bytes[pick(bytes.count, &rng)] = UInt8(pick(256, &rng)) }
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + pick(8, &rng)))
        case 4: bytes.insert(contentsOf: (0...pick(8, &rng)).map { _ in UInt8(pick(256, &rng)) }, at: place)
        default: bytes = Array(frame[..<place]) + frames[pick(frames.count, &rng)].dropFirst(place)
        }
        return bytes
    }
}
