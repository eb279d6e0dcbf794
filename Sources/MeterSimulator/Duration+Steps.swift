import Domain

extension Duration {
    /// Returns the number of whole steps of `length`. Counts in nanoseconds, because 0.1 s is not exact in floating
    /// point. A step is at least a millisecond. A negative duration has no steps.
    package func wholeSteps(of length: Duration) -> Int {
        Int(clamping: max(0, nanoseconds) / max(1_000_000, length.nanoseconds))
    }
}
