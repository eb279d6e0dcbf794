package import Domain

/// A request for what a meter recorded by itself.
package enum LogRequest: Hashable, Sendable {
    /// What the meter says about itself.
    case device
    case catalogue
    /// One log, by its name in the catalogue.
    case log(named: String)
}

/// What a meter recorded by itself, as far as it was requested.
package struct MeterLogs: Hashable, Sendable {
    package var device: DeviceInfo
    /// Empty unless it was requested.
    package var catalogue: [MeterLog]
    /// The requested log.
    package var log: Content?

    package init(device: DeviceInfo, catalogue: [MeterLog] = [], log: Content? = nil) {
        self.device = device
        self.catalogue = catalogue
        self.log = log
    }

    package struct Content: Hashable, Sendable {
        package var entry: MeterLog
        /// Oldest first, `entry.interval_ms` apart.
        package var samples: [Reading]

        package init(entry: MeterLog, samples: [Reading]) {
            self.entry = entry
            self.samples = samples
        }
    }
}

/// An entry in the catalogue of what a meter recorded.
package struct MeterLog: Hashable, Sendable {
    /// As the meter shows it. Nil if it is not plain text.
    package var name: String?
    package var sampleCount: Int
    /// The time between two samples.
    package var interval_ms: Int
    /// How long the recording lasted.
    package var duration_s: Int
    /// What flowed, with the sign of the current.
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
