/// Properties of an address, and whether it can identify one device (Docs/SettingsAndRebuild.md#meter-ids).
extension MACAddress {
    /// Origin of an address (Bluetooth Core, volume 6, part B, section 1.3). Stored with it, because the meaning of its
    /// bits depends on it.
    package enum Kind: String, CaseIterable, Sendable {
        /// Assigned by the maker.
        case assigned = "public"
        /// Generated once or at each start of the device, and kept while it runs.
        case randomStatic = "random-static"
        /// Changes every few minutes; only a bonded peer can resolve it.
        case resolvable = "random-resolvable"
        /// Changes every few minutes.
        case nonResolvable = "random-non-resolvable"

        /// Whether the device keeps the address while it runs.
        package var isLasting: Bool { self == .assigned || self == .randomStatic }
    }

    package enum IdentityFault: Hashable, Sendable {
        /// All zeros or all ones, as in unset memory or from broken adapters.
        case blank
        case changing
    }

    /// Kind of a random address, by its two highest bits; nil for the pattern that the standard reserves.
    package var randomKind: Kind? {
        switch bits >> 46 {
        case 0b11: .randomStatic
        case 0b01: .resolvable
        case 0b00: .nonResolvable
        default: nil
        }
    }

    /// Lowest bit of the first octet, which in a public address means a group of devices. Only shown as a flag, because
    /// real meters have it (Atorch with a Jieli chip, `41:B8:12:0A:A8:37`: syssi/esphome-atorch-dl24 issue 10), and
    /// half of all random addresses.
    package var hasGroupBit: Bool { bits >> 40 & 1 != 0 }

    /// Whether the address is outside the maker's block, so that another device may have it. Only shown as a flag.
    package var isLocallyAdministered: Bool { bits >> 40 & 2 != 0 }

    package var isBlank: Bool { bits == 0 || bits == 0xFFFF_FFFF_FFFF }

    /// The address with the group bit flipped. Atorch meters use one for LE, the other for Bluetooth Classic (`3A:4E:…`
    /// and `3B:4E:…`: aalaei/generic_power_meter).
    package var groupTwin: MACAddress { MACAddress(bits: bits ^ 1 << 40) }

    /// Why the address cannot identify a meter; nil if it can.
    ///
    /// - Parameter kind: nil if unknown, for example for a typed address; this is no fault.
    package func identityFault(of kind: Kind?) -> IdentityFault? {
        if isBlank { return .blank }
        guard let kind else { return nil }
        return kind.isLasting ? nil : .changing
    }
}
