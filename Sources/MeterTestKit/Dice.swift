/// Reproducible dice: the same seed throws the same numbers (SplitMix64), so that a failing seed replays.
package struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    /// 0 up to, not including, `count`, which is 1 or more.
    package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// True in one of `count` cases.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
