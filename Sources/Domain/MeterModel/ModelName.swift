/// A model of meter. The folder of its family in MeterCodec declares it.
///
/// A word wide and without a reference count, so that a frame that names its model is small, and copied for nothing. Each
/// is a constant of the program: what is known of it is never freed.
package struct ModelName: Sendable {
    private let facts: Unmanaged<Facts>

    private final class Facts: Sendable {
        let rawValue: String
        let displayName: String
        let family: MeterFamily

        init(rawValue: String, displayName: String, family: MeterFamily) {
            self.rawValue = rawValue
            self.displayName = displayName
            self.family = family
        }
    }

    /// - Parameters:
    ///   - rawValue: what people type and what JSON carries; lower case, and no other model's.
    ///   - displayName: the name as it is printed on the meter, where that is not the raw value in capitals.
    package init(_ rawValue: String, of family: MeterFamily, displayName: String? = nil) {
        facts = .passRetained(
            Facts(rawValue: rawValue, displayName: displayName ?? rawValue.uppercased(), family: family))
    }

    package var rawValue: String { facts._withUnsafeGuaranteedRef(\.rawValue) }
    /// The name as it is printed on the meter.
    package var displayName: String { facts._withUnsafeGuaranteedRef(\.displayName) }
    /// The meters that share one wire protocol.
    package var family: MeterFamily { facts._withUnsafeGuaranteedRef(\.family) }
    package var maker: MeterMaker { family.maker }
}

extension ModelName: Hashable {
    package static func == (lhs: ModelName, rhs: ModelName) -> Bool {
        lhs.facts.toOpaque() == rhs.facts.toOpaque() || lhs.rawValue == rhs.rawValue
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension ModelName: CustomStringConvertible {
    package var description: String { rawValue }
}

/// A wire protocol and all who speak it. What belongs to one is its `FamilyDescription` in MeterCodec.
package struct MeterFamily: Hashable, Sendable {
    /// No other family's.
    package let rawValue: String
    package let maker: MeterMaker

    package init(_ rawValue: String, of maker: MeterMaker) {
        self.rawValue = rawValue
        self.maker = maker
    }
}

extension MeterFamily: CustomStringConvertible {
    package var description: String { rawValue }
}
