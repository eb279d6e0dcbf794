package import Domain

/// Settings that are on, or supported (Linux `net/bluetooth/mgmt.h`, `MGMT_SETTING_…`).
package struct ControllerSettings: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let powered = ControllerSettings(rawValue: 1 << 0)
    /// The adapter stores pairing keys, and the kernel forwards PIN requests to programs.
    package static let bondable = ControllerSettings(rawValue: 1 << 4)
    package static let classic = ControllerSettings(rawValue: 1 << 7)
    package static let lowEnergy = ControllerSettings(rawValue: 1 << 9)
}

/// Answer to Read Controller Information.
package struct ControllerInfo: Hashable, Sendable {
    package var address: MACAddress
    /// Number of the HCI version (Core Specification, assigned numbers): 6 is 4.0, 9 is 5.0.
    package var version: UInt8
    package var manufacturer: UInt16
    package var supported: ControllerSettings
    package var current: ControllerSettings

    package init(
        address: MACAddress, version: UInt8 = 9, manufacturer: UInt16 = 0, supported: ControllerSettings,
        current: ControllerSettings
    ) {
        self.address = address
        self.version = version
        self.manufacturer = manufacturer
        self.supported = supported
        self.current = current
    }

    /// Decodes the answer without opcode and status. Ignores the trailing class of device and names.
    package init(_ bytes: some Collection<UInt8>) throws(ManagementFault) {
        var reader = ManagementReader(Array(bytes))
        address = try reader.address()
        version = try reader.byte()
        manufacturer = try reader.word()
        supported = ControllerSettings(rawValue: try reader.long())
        current = ControllerSettings(rawValue: try reader.long())
    }
}

/// Answer to Read Controller Index List: the number of each adapter that is set up.
package struct ControllerIndexList: Hashable, Sendable {
    package var indexes: [UInt16]

    package init(_ bytes: some Collection<UInt8>) throws(ManagementFault) {
        var reader = ManagementReader(Array(bytes))
        let count = try reader.word()
        indexes = []
        for _ in 0..<count { indexes.append(try reader.word()) }
    }
}
