/// The only source of chance here: SplitMix64, so that a seed names a run.
package struct SeededDice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// True once in `times`; never for 0.
    package mutating func happens(onceIn times: UInt64) -> Bool { times > 0 && next() % times == 0 }

    /// True with a chance of `permille` in 1000.
    package mutating func happens(permille: UInt64) -> Bool { next() % 1000 < permille }

    /// Even between the ends, in milliseconds.
    package mutating func milliseconds(_ range: ClosedRange<Int64>) -> Duration {
        .milliseconds(range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1)))
    }

    package mutating func number(below limit: Int) -> Int { limit > 0 ? Int(next() % UInt64(limit)) : 0 }

    package mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[number(below: elements.count)]
    }
}
