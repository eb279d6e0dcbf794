package import Domain

/// Bluetooth device address with its address type, as in the kernel's management interface.
package struct RadioAddress: Hashable, Sendable {
    /// Kind of address (Linux `include/net/bluetooth/bluetooth.h`, `BDADDR_…`).
    package enum Kind: UInt8, Sendable, CaseIterable {
        case classic = 0
        case lePublic = 1
        case leRandom = 2

        var isLowEnergy: Bool { self != .classic }
    }

    package var address: MACAddress
    package var kind: Kind

    package init(_ address: MACAddress, _ kind: Kind) {
        self.address = address
        self.kind = kind
    }

    /// Seven bytes: the address, least significant octet first, and its kind.
    var bytes: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: address.bits >> UInt64(8 * $0)) } + [kind.rawValue]
    }
}

extension RadioAddress {
    /// `assigned` for every public address. A random address's bits show its kind; nil for a pattern that the standard
    /// reserves.
    var addressKind: MACAddress.Kind? {
        kind == .leRandom ? address.randomKind : .assigned
    }

    /// Whether the address is permanent and so identifies a meter.
    package var isIdentity: Bool {
        guard let addressKind else { return false }
        return address.identityFault(of: addressKind) == nil
    }
}

/// Radios that a discovery listens to (BlueZ `doc/mgmt`, "Start Discovery Command"): one bit for each kind of address.
package struct DiscoveryKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let classic = DiscoveryKinds(rawValue: 1)
    /// Public and random addresses.
    package static let lowEnergy = DiscoveryKinds(rawValue: 6)
    /// Classic and LE in turns.
    package static let interleaved: DiscoveryKinds = [.classic, .lowEnergy]
}

extension DiscoveryKinds: CustomStringConvertible {
    package var description: String {
        switch (contains(.classic), !isDisjoint(with: .lowEnergy)) {
        case (true, true): "LE and Classic"
        case (true, false): "Classic"
        case (false, true): "LE"
        case (false, false): "none"
        }
    }
}
