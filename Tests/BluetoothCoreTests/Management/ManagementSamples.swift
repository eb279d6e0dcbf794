import BluetoothCore
import Domain

/// Packets as the kernel makes them.
enum ManagementSamples {
    static func packet(_ code: UInt16, index: UInt16 = 0, _ parameters: [UInt8]) -> [UInt8] {
        little(code, 2) + little(index, 2) + little(UInt16(parameters.count), 2) + parameters
    }

    static func found(
        _ device: RadioAddress, rssi: Int8, _ data: [UInt8], flags: UInt32 = 0, index: UInt16 = 0
    ) -> [UInt8] {
        packet(
            0x12, index: index,
            bytes(of: device) + [UInt8(bitPattern: rssi)] + little(flags, 4) + little(UInt16(data.count), 2) + data)
    }

    static func bytes(of device: RadioAddress) -> [UInt8] { little(device.address.bits, 6) + [device.kind.rawValue] }

    static func bytes(of info: ControllerInfo) -> [UInt8] {
        little(info.address.bits, 6) + [info.version] + little(info.manufacturer, 2)
            + little(info.supported.rawValue, 4) + little(info.current.rawValue, 4)
            + [UInt8](repeating: 0, count: 3 + 249 + 11)
    }

    private static func little(_ number: some FixedWidthInteger, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
