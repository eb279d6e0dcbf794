package import Domain

extension UniqueID {
    /// A value that a test can tell from others.
    package static func numbered(_ number: UInt64) -> Self { Self(high: 0x4000, low: 1 << 63 | number) }
}
