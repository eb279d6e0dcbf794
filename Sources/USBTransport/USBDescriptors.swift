/// A sequence of descriptors, such as a configuration's (USB 2.0, 9.5: each begins with its length and its type). It
/// ends at a descriptor that is truncated or shorter than two octets.
struct USBDescriptors: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = ArraySlice(bytes) }

    /// Returns the descriptor's type and all its bytes, including the length octet.
    mutating func next() -> (type: UInt8, bytes: [UInt8])? {
        guard rest.count >= 2, let length = rest.first.map(Int.init), length >= 2, length <= rest.count else {
            return nil
        }
        let bytes = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        return (bytes[1], bytes)
    }
}
