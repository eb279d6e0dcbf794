package import Domain

/// A request for the logs in a meter's memory.
package enum LogRequest: Hashable, Sendable {
    /// Only device information, without logs and catalogue.
    case device
    case catalogue
    case log(named: String)
}

/// Answer to a `LogRequest`.
package struct MeterLogs: Hashable, Sendable {
    package var device: DeviceInfo
    /// One entry for each of the meter's logs; empty unless requested.
    package var catalogue: [MeterLog]
    package var log: Content?

    package init(device: DeviceInfo, catalogue: [MeterLog] = [], log: Content? = nil) {
        self.device = device
        self.catalogue = catalogue
        self.log = log
    }

    package struct Content: Hashable, Sendable {
        package var entry: MeterLog
        /// Samples of the log, oldest first, `entry.interval_ms` apart.
        package var samples: [Reading]

        package init(entry: MeterLog, samples: [Reading]) {
            self.entry = entry
            self.samples = samples
        }
    }
}

package struct MeterLog: Hashable, Sendable {
    /// Name as the meter shows it; nil if not plain text.
    package var name: String?
    package var sampleCount: Int
    package var interval_ms: Int
    package var duration_s: Int
    /// Charge in microampere-hours, with the sign of the current.
    package var charge_uAh: Int
    package var energy_uWh: Int

    package init(
        name: String?, sampleCount: Int, interval_ms: Int, duration_s: Int, charge_uAh: Int, energy_uWh: Int
    ) {
        self.name = name
        self.sampleCount = sampleCount
        self.interval_ms = interval_ms
        self.duration_s = duration_s
        self.charge_uAh = charge_uAh
        self.energy_uWh = energy_uWh
    }
}
