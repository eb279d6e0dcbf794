package import Domain
package import GatewayAPI
package import MeterCodec

/// A meter's state as plain values, cheap enough for frequent polling.
package struct MeterSnapshot: Sendable {
    package var id: MeterID
    package var state: ConnectionState
    package var since: WallTime
    package var isWanted: Bool
    /// Name given by a user, or else by the device.
    package var name: String?
    package var model: ModelName?
    package var device: DeviceInfo?
    package var transport: LinkAddress.Transport?
    package var lease: LeaseStatus?
    /// Last error; nil once data is available.
    package var error: String?
    /// Last reading as published to programs (`Reading.published`).
    package var reading: TimedReading?
    /// Start of meterd's energy count; nil before the first reading.
    package var countedSince: WallTime?
    package var told: TelemetryBody?
    package var commands: [MeterProfile.CommandRule] = []

    package init(_ id: MeterID, state: ConnectionState, since: WallTime, isWanted: Bool) {
        self.id = id
        self.state = state
        self.since = since
        self.isWanted = isWanted
    }
}

extension MeterDirectory {
    /// Stored energy counts, as `Quantity.countedEnergy` and `countedCharge`. A power cut never lowers them.
    package func writtenTotals() -> [MeterID: Reading] { dependencies.counts?.written ?? [:] }

    /// Returns all meters in the order of their ids. Call only on the session loop.
    package nonisolated func snapshots() -> [MeterSnapshot] {
        assumeIsolated { directory in
            var all: [MeterSnapshot] = []
            directory.forEach { all.append($0.snapshot()) }
            return all
        }
    }
}

extension DeviceSession {
    func snapshot() -> MeterSnapshot {
        var snapshot = MeterSnapshot(id, state: machine.state, since: stateSince, isWanted: machine.isWanted)
        snapshot.name = displayName
        snapshot.model = device?.model ?? model
        snapshot.device = device
        snapshot.transport = link?.transport
        snapshot.lease = leaseStatus
        snapshot.error = lastError
        snapshot.reading = wholeReading(at: loop.now)
        if let whole = snapshot.reading?.reading { snapshot.reading?.reading = whole.published }
        snapshot.countedSince = counted?.since
        snapshot.told = told()
        snapshot.commands = profile?.commands ?? []
        return snapshot
    }
}
