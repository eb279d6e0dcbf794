import Domain

/// The only source of chance here, so that a seed names a run.
package struct SimulationRNG: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    package init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

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
