import MeterModel

extension MonotonicTime {
    static func seconds(_ seconds: Int) -> Self { Self(sinceOrigin: .seconds(seconds)) }
    static func milliseconds(_ milliseconds: Int) -> Self { Self(sinceOrigin: .milliseconds(milliseconds)) }
}

/// Repeatable dice (xorshift), so that a failing seed replays.
struct Dice {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state >> 11
    }
}
