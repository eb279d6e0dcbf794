/// A model of meter, declared in its family's folder in MeterCodec.
///
/// One machine word without a reference count, so that frames are cheap to copy. Models are constants, so their `Facts`
/// are never freed.
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
    ///   - rawValue: for commands and JSON; lower case and unique.
    ///   - displayName: as printed on the meter; nil if it is the raw value in capitals.
    package init(_ rawValue: String, of family: MeterFamily, displayName: String? = nil) {
        facts = .passRetained(
            Facts(rawValue: rawValue, displayName: displayName ?? rawValue.uppercased(), family: family))
    }

    package var rawValue: String { facts._withUnsafeGuaranteedRef(\.rawValue) }
    package var displayName: String { facts._withUnsafeGuaranteedRef(\.displayName) }
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

/// A wire protocol and its models, see `FamilyDescription` in MeterCodec.
package struct MeterFamily: Hashable, Sendable {
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
