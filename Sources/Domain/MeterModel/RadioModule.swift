/// How the radio module of a meter shows its serial line over Bluetooth LE (`GATTSerialProfile` has the ways to the
/// bytes). Modules are bought: meters of different makers have the same.
package enum RadioModule: Hashable, Sendable {
    /// FFE0 takes and gives.
    case oneService
    /// FFE0 gives and FFE5 takes: an RF-star module.
    case twoServices

    /// The 16-bit names of its services.
    package var services: Set<UInt16> {
        switch self {
        case .oneService: [0xFFE0]
        case .twoServices: [0xFFE0, 0xFFE5]
        }
    }
}
