/// How often a number fell between which bounds.
package struct MetricHistogram: Hashable, Sendable {
    /// Upper ends of the buckets, rising. What is above the last one is counted too.
    package let bounds: [Double]
    /// One more than there are bounds; each counts what is in its bucket alone.
    package private(set) var counts: [UInt64]
    /// Of everything observed.
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    package mutating func observe(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] &+= 1
        sum += value
    }
}
