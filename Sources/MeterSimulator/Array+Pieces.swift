extension [UInt8] {
    /// The bytes cut into pieces of `length`, 1 or more; the last one is what is over.
    func pieces(_ length: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: Swift.max(1, length)).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
