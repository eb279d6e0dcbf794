/// Stores a frame's bytes inline, so that decoding allocates nothing.
extension InlineArray where Element == UInt8 {
    /// Copies as many bytes as fit; the remaining bytes are 0.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(repeating: 0)
        Swift.withUnsafeMutableBytes(of: &self) { own in
            own.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(own.count)))
        }
    }

    func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: self, body)
    }
}
