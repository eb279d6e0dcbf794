/// Properties of an address, and whether it can identify one device (Docs/SettingsAndRebuild.md#meter-ids).
extension MACAddress {
    /// Origin of an address (Bluetooth Core, volume 6, part B, section 1.3). Stored beside the address, because it
    /// decides what the bits mean.
    package enum Kind: String, CaseIterable, Sendable {
        /// Assigned by the maker.
        case assigned = "public"
        /// Generated at random once, or at each start of the device, and kept while the device runs.
        case randomStatic = "random-static"
        /// Changes every few minutes; only a bonded peer can resolve it.
        case resolvable = "random-resolvable"
        /// Changes every few minutes.
        case nonResolvable = "random-non-resolvable"

        /// Whether the device keeps the address.
        package var isLasting: Bool { self == .assigned || self == .randomStatic }
    }

    package enum IdentityFault: Hashable, Sendable {
        /// All zeros or all ones, as in unset memory and from broken adapters.
        case blank
        case changing
    }

    /// Kind of a random address, by its two topmost bits; nil for the pattern that the standard reserves.
    package var randomKind: Kind? {
        switch bits >> 46 {
        case 0b11: .randomStatic
        case 0b01: .resolvable
        case 0b00: .nonResolvable
        default: nil
        }
    }

    /// Lowest bit of the first octet, which in a public address means a group of devices.
    ///
    /// Real meters have it (Atorch with a Jieli chip, `41:B8:12:0A:A8:37`: syssi/esphome-atorch-dl24 issue 10), so it
    /// is only shown as a flag. Half of all random addresses have it.
    package var hasGroupBit: Bool { bits >> 40 & 1 != 0 }

    /// Whether another device may have the same public address, because it is outside the maker's block. Only shown as
    /// a flag.
    package var isLocallyAdministered: Bool { bits >> 40 & 2 != 0 }

    package var isBlank: Bool { bits == 0 || bits == 0xFFFF_FFFF_FFFF }

    /// The address with the group bit flipped. Atorch meters use one for LE and one for Classic (`3A:4E:…` and
    /// `3B:4E:…`: aalaei/generic_power_meter).
    package var groupTwin: MACAddress { MACAddress(bits: bits ^ 1 << 40) }

    /// Returns the reason why the address cannot be a meter's identity; nil if there is none.
    ///
    /// - Parameter kind: nil if unknown, for example for a typed address; an unknown kind is no fault.
    package func identityFault(of kind: Kind?) -> IdentityFault? {
        if isBlank { return .blank }
        guard let kind else { return nil }
        return kind.isLasting ? nil : .changing
    }
}
