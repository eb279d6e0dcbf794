/// The check byte of Atorch messages, as far as it is known (protocols.md 6.4).
package enum AtorchCheck {
    /// The sum of the bytes between the two header bytes and the check byte, XOR 44.
    package static func byte(over body: some Sequence<UInt8>) -> UInt8 {
        body.reduce(0, &+) ^ 0x44
    }

    /// The same for a whole message, header and check byte included.
    package static func byte(ofMessage message: UnsafeRawBufferPointer) -> UInt8 {
        byte(over: message.dropFirst(2).dropLast())
    }
}
