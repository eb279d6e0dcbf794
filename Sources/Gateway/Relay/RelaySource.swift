package import Domain

package struct RelaySource: Sendable {
    package var meter: MeterID
    package var readings: Feed<TimedReading>
    /// Returns the meter's model and state, if known. Called on the session loop.
    package var look: @Sendable () -> (model: String?, state: String?)

    package init(
        meter: MeterID, readings: Feed<TimedReading>,
        look: @escaping @Sendable () -> (model: String?, state: String?)
    ) {
        self.meter = meter
        self.readings = readings
        self.look = look
    }
}

extension DeviceSession {
    package nonisolated var relaySource: RelaySource {
        RelaySource(meter: id, readings: readings) { [weak self] in
            self?.assumeIsolated { (($0.device?.model ?? $0.model)?.displayName, $0.machine.state.rawValue) } ?? (
                nil, nil
            )
        }
    }
}
