/// A request to a PPK2 (Docs/Protocols/PPK2.md#requests; NordicSemiconductor/pc-nrfconnect-ppk src/constants.ts,
/// IRNAS/ppk2-api-python src/ppk2_api/ppk2_api.py, hdoordt/ppk2-rs src/cmd.rs).
package enum PPK2Request: Hashable, Sendable {
    case stop
    case metadata
    /// Selects the mode that measures the current through VIN without supplying it.
    case ammeter
    /// Selects the mode that supplies the measured device.
    case source
    /// Sets the voltage of source mode, in millivolts.
    case regulator(Int)
    /// Connects the measured device. In both modes, the device has no supply until then.
    case connectDevice
    case disconnectDevice
    case start

    /// Voltages that the regulator can supply, in millivolts (`vddRange`, `vdd_low`, `vdd_high`).
    package static let voltages = 800...5000

    /// The requests that make the PPK2 an ammeter.
    package static let ammeterConversation: [PPK2Request] = [.stop, .metadata, .ammeter, .connectDevice, .start]

    /// The requests that make the PPK2 a source. As in the maker's program, no samples are taken meanwhile, and the
    /// output is off while mode and voltage change.
    static func sourceConversation(_ millivolts: Int) -> [PPK2Request] {
        [.stop, .disconnectDevice, .metadata, .source, .regulator(millivolts), .connectDevice, .start]
    }

    /// The requests to a source that sends no samples. They leave its output off and do not select the ammeter: if the
    /// PPK2 missed that request, the next one would switch the output on.
    static let endOfSource: [PPK2Request] = [.disconnectDevice, .stop, .metadata, .start]

    package var bytes: [UInt8] {
        switch self {
        case .stop: [0x07]
        case .metadata: [0x19]
        case .ammeter: [0x11, 0x01]
        case .source: [0x11, 0x02]
        case .regulator(let millivolts): [0x0D, UInt8(millivolts >> 8 & 0xFF), UInt8(millivolts & 0xFF)]
        case .connectDevice: [0x0C, 0x01]
        case .disconnectDevice: [0x0C, 0x00]
        case .start: [0x06]
        }
    }

    /// Idle time after the request. After a stop, samples already taken still arrive. For the metadata, ppk2-api-python
    /// waits in steps of 0.1 s.
    var pause: Duration {
        switch self {
        case .stop: .milliseconds(100)
        case .metadata: .milliseconds(300)
        case .ammeter, .source, .regulator, .connectDevice, .disconnectDevice: .milliseconds(50)
        case .start: .zero
        }
    }
}
