extension [UInt8] {
    /// Splits the bytes into parts of `length` bytes, 1 or more; the last may be shorter.
    func pieces(_ length: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: Swift.max(1, length)).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
