import MeterModel

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
}
