package struct MetricHistogram: Hashable, Sendable {
    /// Inclusive upper ends, ascending. One more bucket counts larger values.
    package let bounds: [Double]
    /// Number of values in each bucket, not cumulative; one element more than `bounds`.
    package private(set) var counts: [UInt64]
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
