package import MeterModel

/// A meter of this host, as far as the relay needs it.
package struct RelaySource: Sendable {
    package var meter: MeterID
    package var readings: Feed<TimedReading>
    /// As far as it is known. Called on the loop.
    package var model: @Sendable () -> String?

    package init(meter: MeterID, readings: Feed<TimedReading>, model: @escaping @Sendable () -> String? = { nil }) {
        self.meter = meter
        self.readings = readings
        self.model = model
    }
}

extension DeviceSession {
    package nonisolated var relaySource: RelaySource {
        RelaySource(meter: id, readings: readings) { [weak self] in
            self?.assumeIsolated { ($0.device?.model ?? $0.model)?.displayName }
        }
    }
}
