/// Value of a property. Values that must change together are one property: a structured string.
package enum SettingValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// Neither NaN nor infinite. Check external values with `isStorable`.
    case double(Double)
    case string(String)

    /// Maximum length of a text in bytes of UTF-8 (Docs/SettingsAndRebuild.md#records).
    package static let stringBytesMax = 16 * 1024

    package var isStorable: Bool {
        switch self {
        case .null, .bool, .int: true
        case .double(let value): value.isFinite
        case .string(let text): text.utf8.count <= Self.stringBytesMax
        }
    }
}

/// Equality by bytes, unlike Swift's own: -0 is not 0, and two encodings of "é" differ. So all replicas end with the
/// same bytes.
extension SettingValue {
    package static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        // Strings with equal bytes have equal Swift hashes.
        case .string(let text): hasher.combine(text)
        }
    }
}

/// Order by kind, then value. Only needed for replicas to agree on equal stamps with different values, which no host
/// with a unique id writes.
extension SettingValue: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.bool(let left), .bool(let right)): !left && right
        case (.int(let left), .int(let right)): left < right
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
