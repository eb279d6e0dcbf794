/// Layout of a radio module's serial line over Bluetooth LE (`GATTSerialProfile` has the characteristics). Meters of
/// different makers use the same modules.
package enum RadioModule: Hashable, Sendable {
    /// FFE0 carries both directions.
    case oneService
    /// FFE0 notifies and FFE5 accepts writes: an RF-star module.
    case twoServices

    /// 16-bit UUIDs of the module's services.
    package var services: Set<UInt16> {
        switch self {
        case .oneService: [0xFFE0]
        case .twoServices: [0xFFE0, 0xFFE5]
        }
    }
}
