/// Layout of a Bluetooth LE module with a serial line (characteristics: `GATTSerialProfile`). Meters of different
/// makers share modules.
package enum RadioModule: Hashable, Sendable {
    /// GATT service FFE0 for both directions.
    case oneService
    /// GATT service FFE0 notifies and FFE5 accepts writes: an RF-star module.
    case twoServices

    /// 16-bit UUIDs of GATT services.
    package var services: Set<UInt16> {
        switch self {
        case .oneService: [0xFFE0]
        case .twoServices: [0xFFE0, 0xFFE5]
        }
    }
}
