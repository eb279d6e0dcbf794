import Domain

extension Duration {
    /// The number of whole steps of `length` that fit in. Counted in nanoseconds and never in floating point, so that a
    /// step is not one early or late because 0.1 s is not a binary number. A step is at least a millisecond long, and a
    /// time before zero holds no steps.
    package func wholeSteps(of length: Duration) -> Int {
        Int(clamping: max(0, nanoseconds) / max(1_000_000, length.nanoseconds))
    }
}
