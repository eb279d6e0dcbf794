/// Value of a property. Values that must change together are one property, a string with a structure.
package enum SettingValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// Neither NaN nor infinite; check values from outside with `isStorable`.
    case double(Double)
    /// A string of at most `stringBytesMax` bytes of UTF-8.
    case string(String)

    /// Maximum bytes of UTF-8 in a string (Docs/SettingsAndRebuild.md#records).
    package static let stringBytesMax = 16 * 1024

    package var isStorable: Bool {
        switch self {
        case .null, .bool, .int: true
        case .double(let value): value.isFinite
        case .string(let text): text.utf8.count <= Self.stringBytesMax
        }
    }
}

/// Equality by bytes, so that all replicas end with the same bytes: -0 is not 0, and two encodings of "é" differ.
/// Swift's own equality is coarser.
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
        // Equal bytes have the same Swift string hash.
        case .string(let text): hasher.combine(text)
        }
    }
}

/// A total order by kind, then value, without other meaning. With this order, replicas agree even on equal stamps with
/// different values. No host with a unique id writes such stamps.
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
