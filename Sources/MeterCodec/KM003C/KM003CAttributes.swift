/// Set of data that a request names. An answer contains one payload for each bit
/// (Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
package struct KM003CAttributes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let adc = Self(rawValue: 0x001)
    package static let queue = Self(rawValue: 0x002)
    /// Named by the vendor, but never seen in use.
    package static let fastQueue = Self(rawValue: 0x004)
    package static let settings = Self(rawValue: 0x008)
    package static let pd = Self(rawValue: 0x010)
    package static let pdTrace = Self(rawValue: 0x020)
    package static let quickCharge = Self(rawValue: 0x040)
    /// Seen after a PD trace; its eight bytes are not understood.
    package static let unknown80 = Self(rawValue: 0x080)
    package static let logCatalogue = Self(rawValue: 0x200)

    package static let known: Self = [
        .adc, .queue, .fastQueue, .settings, .pd, .pdTrace, .quickCharge, .unknown80, .logCatalogue,
    ]
    /// Attributes that the meter sends without authentication. It omits all others from its answer.
    package static let unauthenticated: Self = [.adc, .settings, .pd]

    /// JSON name of a single attribute; nil for any other set.
    package var name: String? {
        switch self {
        case .adc: "adc"
        case .queue: "queue"
        case .fastQueue: "fast_queue"
        case .settings: "settings"
        case .pd: "pd"
        case .pdTrace: "pd_trace"
        case .quickCharge: "quick_charge"
        case .unknown80: "unknown_80"
        case .logCatalogue: "log_catalogue"
        default: nil
        }
    }

    /// Single attributes in this set, lowest first, as in an answer.
    package var singles: [Self] {
        (0..<16).map { Self(rawValue: 1 << $0) }.filter { isSuperset(of: $0) }
    }
}
