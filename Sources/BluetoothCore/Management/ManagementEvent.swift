/// An event or answer from the kernel (BlueZ `doc/mgmt`, "Events"). Unused kinds become `other`.
package enum ManagementEvent: Hashable, Sendable {
    /// - Parameter parameters: the answer without opcode and status.
    case commandComplete(opcode: UInt16, ManagementStatus, parameters: [UInt8])
    case commandStatus(opcode: UInt16, ManagementStatus)
    case controllerError(UInt8)
    case indexAdded
    case indexRemoved
    case newSettings(ControllerSettings)
    /// A pairing over Classic succeeded. The key itself is dropped.
    case newLinkKey(RadioAddress)
    case deviceConnected(RadioAddress)
    case deviceDisconnected(RadioAddress, DisconnectReason)
    case connectFailed(RadioAddress, ManagementStatus)
    /// - Parameter isSecure: whether a PIN of 16 digits is required.
    case pinCodeRequest(RadioAddress, isSecure: Bool)
    /// - Parameter isHint: whether the user only has to agree, without comparing numbers.
    case userConfirmationRequest(RadioAddress, isHint: Bool, value: UInt32)
    case userPasskeyRequest(RadioAddress)
    case authenticationFailed(RadioAddress, ManagementStatus)
    /// The all-zero address stands for all devices.
    case deviceUnblocked(RadioAddress)
    case deviceFound(FoundDevice)
    case discovering(DiscoveryKinds, isOn: Bool)
    case controllerSuspended(UInt8)
    case controllerResumed
    case other(code: UInt16)

    package struct FoundDevice: Hashable, Sendable {
        package var address: RadioAddress
        package var rssi: Int?
        package var flags: DeviceReport.Flags
        package var data: [UInt8]

        package init(address: RadioAddress, rssi: Int?, flags: DeviceReport.Flags, data: [UInt8]) {
            self.address = address
            self.rssi = rssi
            self.flags = flags
            self.data = data
        }
    }

    /// Reason for a disconnection (Linux `net/bluetooth/mgmt.h`, `MGMT_DEV_DISCONN_…`).
    package struct DisconnectReason: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package var words: String {
            switch rawValue {
            case 1: "nothing was heard from the device"
            case 2: "this host ended the link"
            case 3: "the device ended the link"
            case 4: "the device refused the key"
            case 5: "this host went to sleep"
            default: "the kernel does not say why"
            }
        }
    }

    package init(_ packet: ManagementPacket) throws(ManagementFault) {
        if let report = try DeviceReport(packet) {
            self = .deviceFound(
                FoundDevice(
                    address: report.address, rssi: report.rssi, flags: report.flags, data: Array(report.data)))
            return
        }
        var reader = ManagementReader(Array(packet.parameters), code: packet.code)
        if let general = try Self.general(packet.code, &reader) {
            self = general
        } else {
            self = try Self.device(packet.code, &reader) ?? .other(code: packet.code)
        }
    }

    private static func general(
        _ code: UInt16, _ reader: inout ManagementReader
    ) throws(ManagementFault) -> ManagementEvent? {
        switch code {
        case 0x0001:
            let opcode = try reader.word()
            let status = ManagementStatus(rawValue: try reader.byte())
            return .commandComplete(opcode: opcode, status, parameters: Array(reader.rest))
        case 0x0002:
            let opcode = try reader.word()
            return .commandStatus(opcode: opcode, ManagementStatus(rawValue: try reader.byte()))
        case 0x0003: return .controllerError(try reader.byte())
        case 0x0004: return .indexAdded
        case 0x0005: return .indexRemoved
        case 0x0006: return .newSettings(ControllerSettings(rawValue: try reader.long()))
        case 0x0013:
            let kinds = DiscoveryKinds(rawValue: try reader.byte())
            return .discovering(kinds, isOn: try reader.byte() != 0)
        case 0x002D: return .controllerSuspended(try reader.byte())
        case 0x002E: return .controllerResumed
        default: return nil
        }
    }

    private static func device(
        _ code: UInt16, _ reader: inout ManagementReader
    ) throws(ManagementFault) -> ManagementEvent? {
        switch code {
        case 0x0009:
            // Skips the hint whether to store the key.
            _ = try reader.byte()
            return .newLinkKey(try reader.device())
        case 0x000B: return .deviceConnected(try reader.device())
        case 0x000C:
            let device = try reader.device()
            return .deviceDisconnected(device, DisconnectReason(rawValue: try reader.byte()))
        case 0x000D:
            let device = try reader.device()
            return .connectFailed(device, ManagementStatus(rawValue: try reader.byte()))
        case 0x000E:
            let device = try reader.device()
            return .pinCodeRequest(device, isSecure: try reader.byte() != 0)
        case 0x000F:
            let device = try reader.device()
            let isHint = try reader.byte() != 0
            return .userConfirmationRequest(device, isHint: isHint, value: try reader.long())
        case 0x0010: return .userPasskeyRequest(try reader.device())
        case 0x0011:
            let device = try reader.device()
            return .authenticationFailed(device, ManagementStatus(rawValue: try reader.byte()))
        case 0x0015: return .deviceUnblocked(try reader.device())
        default: return nil
        }
    }
}

extension ManagementEvent {
    package static func decode(_ bytes: [UInt8]) throws(ManagementFault) -> (index: UInt16, event: ManagementEvent) {
        let result: Result<(UInt16, ManagementEvent), ManagementFault> = bytes.withUnsafeBytes { raw in
            Result { () throws(ManagementFault) in
                let packet = try ManagementPacket(raw)
                return (packet.index, try ManagementEvent(packet))
            }
        }
        return try result.get()
    }
}
