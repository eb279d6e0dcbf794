/// What an address says of itself, and whether it can stand for one device (Docs/SettingsAndRebuild.md#meter-ids).
extension MACAddress {
    /// How a device came by its address (Bluetooth Core, volume 6, part B, section 1.3). Stored beside the address,
    /// because the bits of a public and of a random one mean different things.
    package enum Kind: String, CaseIterable, Sendable {
        /// Assigned by the maker.
        case assigned = "public"
        /// Drawn once, or at each start of the device, and kept while it runs.
        case randomStatic = "random-static"
        /// Changes every few minutes; only a bonded peer can tell whose it is.
        case resolvable = "random-resolvable"
        /// Changes every few minutes.
        case nonResolvable = "random-non-resolvable"

        /// It stays the device's.
        package var isLasting: Bool { self == .assigned || self == .randomStatic }
    }

    /// Why an address does not identify a device.
    package enum IdentityFault: Hashable, Sendable {
        /// All zeros or all ones: what unset memory and broken adapters show.
        case blank
        /// A private address that changes.
        case changing
    }

    /// The kind of a random address, by its two topmost bits. nil for the pattern that the standard reserves.
    package var randomKind: Kind? {
        switch bits >> 46 {
        case 0b11: .randomStatic
        case 0b01: .resolvable
        case 0b00: .nonResolvable
        default: nil
        }
    }

    /// The lowest bit of the first octet, which in a public address would mean many devices. Real meters have it all the
    /// same (Atorch with a Jieli chip, `41:B8:12:0A:A8:37`: syssi/esphome-atorch-dl24 issue 10), so it is shown as a
    /// flag and keeps nobody out. Half of all random addresses have it.
    package var hasGroupBit: Bool { bits >> 40 & 1 != 0 }

    /// The maker's number was not used: another device may have the same address. Shown as a flag. Means something in
    /// a public address only.
    package var isLocallyAdministered: Bool { bits >> 40 & 2 != 0 }

    /// All zeros or all ones.
    package var isBlank: Bool { bits == 0 || bits == 0xFFFF_FFFF_FFFF }

    /// The address that differs from this one in the group bit alone. Atorch meters have one for LE and one for Classic
    /// (`3A:4E:…` and `3B:4E:…`: aalaei/generic_power_meter).
    package var groupTwin: MACAddress { MACAddress(bits: bits ^ 1 << 40) }

    /// What keeps the address from being a meter's identity, nil where nothing does.
    ///
    /// - Parameter kind: nil where nobody knows, as with an address that a person typed: then the doubt counts for it.
    package func identityFault(of kind: Kind?) -> IdentityFault? {
        if isBlank { return .blank }
        guard let kind else { return nil }
        return kind.isLasting ? nil : .changing
    }
}
