/// A request to the kernel about an adapter (BlueZ `doc/mgmt`). Numbers: Linux `net/bluetooth/mgmt.h`.
package enum ManagementCommand: Hashable, Sendable {
    case readVersion
    case readIndexList
    case readInfo
    case setPowered(Bool)
    case setConnectable(Bool)
    case setBondable(Bool)
    case setLowEnergy(Bool)
    case setClassic(Bool)
    case setIOCapability(IOCapability)
    case startDiscovery(DiscoveryKinds)
    /// - Parameter rssi: in dBm. The kernel omits weaker devices; 127 reports all.
    case startServiceDiscovery(DiscoveryKinds, rssi: Int8, services: [BluetoothUUID])
    case stopDiscovery(DiscoveryKinds)
    /// Answers a device report with the flag `confirmName`. If `isKnown` is false, the kernel looks up the name.
    case confirmName(RadioAddress, isKnown: Bool)
    case disconnect(RadioAddress)
    case pairDevice(RadioAddress, IOCapability)
    case cancelPairDevice(RadioAddress)
    case unpairDevice(RadioAddress, disconnect: Bool)
    /// Sends at most 16 bytes of the PIN.
    case pinCodeReply(RadioAddress, pin: String)
    case pinCodeRefusal(RadioAddress)
    case userConfirmation(RadioAddress, isConfirmed: Bool)
    case userPasskey(RadioAddress, UInt32?)
    /// Applies to the next link to the device, whichever program makes it.
    case loadConnectionParameters(RadioAddress, ConnectionParameters)

    /// Display and input capabilities of a pairing device (Core Specification 5.4, vol 4 part E 7.7.40; the last case
    /// is for LE only).
    package enum IOCapability: UInt8, Sendable {
        case displayOnly = 0
        case displayYesNo = 1
        case keyboardOnly = 2
        case noInputNoOutput = 3
        case keyboardDisplay = 4
    }

    package static let pinCodeReplyOpcode: UInt16 = 0x0016

    package var opcode: UInt16 {
        switch self {
        case .readVersion: 0x0001
        case .readIndexList: 0x0003
        case .readInfo: 0x0004
        case .setPowered: 0x0005
        case .setConnectable: 0x0007
        case .setBondable: 0x0009
        case .setLowEnergy: 0x000D
        case .disconnect: 0x0014
        case .pinCodeReply: Self.pinCodeReplyOpcode
        case .pinCodeRefusal: 0x0017
        case .setIOCapability: 0x0018
        case .pairDevice: 0x0019
        case .cancelPairDevice: 0x001A
        case .unpairDevice: 0x001B
        case .userConfirmation(_, let isConfirmed): isConfirmed ? 0x001C : 0x001D
        case .userPasskey(_, let passkey): passkey == nil ? 0x001F : 0x001E
        case .startDiscovery: 0x0023
        case .stopDiscovery: 0x0024
        case .confirmName: 0x0025
        case .setClassic: 0x002A
        case .loadConnectionParameters: 0x0035
        case .startServiceDiscovery: 0x003A
        }
    }

    /// Whether the command answers a device's request during pairing. The kernel accepts such an answer while another
    /// command is pending: its handlers in `net/bluetooth/mgmt.c` (`pin_code_reply`, `user_pairing_resp`) do not check
    /// for one.
    package var isPairingAnswer: Bool {
        switch self {
        case .pinCodeReply, .pinCodeRefusal, .userConfirmation, .userPasskey: true
        default: false
        }
    }

    /// Encodes the command. Ignores `index` if the command concerns no adapter.
    package func bytes(index: UInt16) -> [UInt8] {
        let isGeneral = self == .readVersion || self == .readIndexList
        return ManagementPacket.encode(
            code: opcode, index: isGeneral ? ManagementPacket.noIndex : index, parameters)
    }

    private var parameters: [UInt8] {
        switch self {
        case .readVersion, .readIndexList, .readInfo: []
        case .setPowered(let isOn), .setConnectable(let isOn), .setBondable(let isOn), .setLowEnergy(let isOn),
            .setClassic(let isOn):
            [isOn ? 1 : 0]
        case .setIOCapability(let capability): [capability.rawValue]
        case .startDiscovery(let kinds), .stopDiscovery(let kinds): [kinds.rawValue]
        case .startServiceDiscovery(let kinds, let rssi, let services):
            [kinds.rawValue, UInt8(bitPattern: rssi)]
                + UInt16(truncatingIfNeeded: services.count).littleEndianBytes
                + services.flatMap(\.longLittleEndianBytes)
        case .confirmName(let device, let isKnown): device.bytes + [isKnown ? 1 : 0]
        case .disconnect(let device), .cancelPairDevice(let device), .pinCodeRefusal(let device),
            .userConfirmation(let device, _):
            device.bytes
        case .pairDevice(let device, let capability): device.bytes + [capability.rawValue]
        case .unpairDevice(let device, let disconnect): device.bytes + [disconnect ? 1 : 0]
        case .pinCodeReply(let device, let pin):
            device.bytes + [UInt8(min(16, pin.utf8.count))] + padded(Array(pin.utf8.prefix(16)))
        case .loadConnectionParameters(let device, let parameters):
            UInt16(1).littleEndianBytes + device.bytes + parameters.bytes
        case .userPasskey(let device, let passkey):
            device.bytes
                + (passkey.map { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) } } ?? [])
        }
    }

    private func padded(_ pin: [UInt8]) -> [UInt8] {
        pin + [UInt8](repeating: 0, count: 16 - pin.count)
    }
}
