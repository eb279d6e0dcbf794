/// A request to a PPK2, as an ammeter (Docs/Protocols/PPK2.md#requests; NordicSemiconductor/pc-nrfconnect-ppk
/// src/constants.ts, IRNAS/ppk2-api-python src/ppk2_api/ppk2_api.py, hdoordt/ppk2-rs src/cmd.rs).
package enum PPK2Request: Hashable, Sendable, CaseIterable {
    case stop
    case metadata
    /// Selects the mode that measures the current through VIN without supplying it.
    case ammeter
    /// Connects the measured device. In ammeter mode, the device has no supply until then.
    case connectDevice
    case start

    package var bytes: [UInt8] {
        switch self {
        case .stop: [0x07]
        case .metadata: [0x19]
        case .ammeter: [0x11, 0x01]
        case .connectDevice: [0x0C, 0x01]
        case .start: [0x06]
        }
    }

    /// Idle time after the request. After a stop, samples already taken still arrive. For the metadata, ppk2-api-python
    /// waits in steps of 0.1 s.
    var pause: Duration {
        switch self {
        case .stop: .milliseconds(100)
        case .metadata: .milliseconds(300)
        case .ammeter, .connectDevice: .milliseconds(50)
        case .start: .zero
        }
    }
}
