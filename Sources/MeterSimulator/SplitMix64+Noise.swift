import Domain

extension SplitMix64 {
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// Returns a random number in -1...1.
    package mutating func wobble() -> Double {
        Double(next() >> 11) / Double(1 << 52) - 1
    }
}
