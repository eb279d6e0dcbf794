import MeterModel

extension Duration {
    /// How many whole steps of `length` fit in, counted in nanoseconds and never in floating point, so that a step is
    /// not one early or late because 0.1 s is no binary number. A step is at least a millisecond long, and a time
    /// before zero holds none.
    package func wholeSteps(of length: Duration) -> Int {
        Int(clamping: max(0, nanoseconds) / max(1_000_000, length.nanoseconds))
    }
}
