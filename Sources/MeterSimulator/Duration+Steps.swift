import Domain

extension Duration {
    /// Returns the number of whole steps of `length` (1 ms or more); 0 for a negative duration. Counts in nanoseconds,
    /// because 0.1 s is not exact in floating point.
    package func wholeSteps(of length: Duration) -> Int {
        Int(clamping: max(0, nanoseconds) / max(1_000_000, length.nanoseconds))
    }
}
