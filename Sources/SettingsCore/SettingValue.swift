/// What a property can hold. Things that must change together are one property, as a string that holds a structure.
package enum SettingValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// Never NaN or infinite: `isStorable` says so, and whoever takes one from outside asks.
    case double(Double)
    /// At most `stringBytesMax` bytes of UTF-8.
    case string(String)

    /// leases-and-sync.md, section 2.
    package static let stringBytesMax = 16 * 1024

    package var isStorable: Bool {
        switch self {
        case .null, .bool, .int: true
        case .double(let value): value.isFinite
        case .string(let text): text.utf8.count <= Self.stringBytesMax
        }
    }
}

/// A total order, by kind and then by value, so that two equal stamps with different values, which a unique host never
/// writes, still end the same way everywhere. The order means nothing else.
extension SettingValue: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.bool(let left), .bool(let right)): !left && right
        case (.int(let left), .int(let right)): left < right
        // By bit pattern, because -0 and 0 are two values and yet equal.
        case (.double(let left), .double(let right)): left.bitPattern < right.bitPattern
        case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        default: lhs.kind < rhs.kind
        }
    }

    private var kind: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int: 2
        case .double: 3
        case .string: 4
        }
    }
}
