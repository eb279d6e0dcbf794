import ConnectionCore
package import GatewayAPI
package import MeterCodec
package import MeterModel

/// What people see of a session.
extension DeviceSession {
    package func status() -> MeterStatus {
        let now = loop.now
        var status = MeterStatus(
            id: id.description, state: machine.state.rawValue, since: stateSince.description,
            local_only: id.isLocalOnly, wanted: machine.isWanted, counters: counters)
        status.model = (device?.model ?? model)?.displayName
        status.name = settings.name ?? deviceName
        status.transport = link?.transport.rawValue
        status.port = link?.display
        if let latest {
            status.reading = ReadingBody(latest.reading)
            status.age_ms = (now - latest.time).milliseconds
        }
        if let device, device != DeviceInfo(model: device.model) {
            status.device = DeviceBody(
                serial: device.serial, firmware: device.firmware, hardware: device.hardware,
                power_on_count: device.powerOnCount)
        }
        if case .poll? = driver?.profile.rhythm { status.poll_interval_ms = expectedInterval?.milliseconds }
        status.retry_in_ms = machine.retryAt.map { max(0, ($0 - now).milliseconds) }
        status.lease = gate?.lease(of: id) ?? LeaseStatus(.none)
        status.error = lastError
        return status
    }

    /// The meter's place in a scan; nil while it is not there.
    package func scanEntry() -> ScanEntry? {
        guard machine.isPresent, let link else { return nil }
        var entry = ScanEntry(
            id: id.description, model: (device?.model ?? model)?.displayName, name: settings.name ?? deviceName,
            transport: link.transport.rawValue, port: link.display, state: machine.state.rawValue)
        entry.holder = gate?.lease(of: id).holder
        return entry
    }

    /// The name a person gave, or the device's own.
    package var displayName: String? { settings.name ?? deviceName }

    /// The clock that times of this session's records are on.
    package nonisolated var now: MonotonicTime { loop.now }

    package var knownModel: ModelName? { model }

    /// The model's rhythm and abilities, nil while the model is unknown.
    package var profile: MeterProfile? { driver?.profile }
}
