import Domain

/// Repeatable random numbers: the same seed gives the same numbers, so that a failing seed can be replayed.
package struct SeededRNG: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    package init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

    /// A number from 0 up to, but not including, `count`, which is 1 or more.
    package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// True in one of `count` cases.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    package mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}

/// Numbers that differ from each other and are the same in each run, spread over all bits: text made of them differs
/// from its first digit on.
package struct CountingRNG: RandomNumberGenerator, Sendable {
    private var last: UInt64

    /// - Parameter last: how many numbers were drawn before. Two generators far apart draw different ones.
    package init(last: UInt64 = 0) { self.last = last }

    package mutating func next() -> UInt64 {
        last += 1
        return last &* 0x9E37_79B9_7F4A_7C15
    }
}
