package import Domain
package import GatewayAPI
package import MeterCodec

/// One meter as it is now, for frequent use: plain values, nothing put into words.
package struct MeterSnapshot: Sendable {
    package var id: MeterID
    package var state: ConnectionState
    package var since: WallTime
    package var isWanted: Bool
    /// The name given by a person, or else the device's own.
    package var name: String?
    package var model: ModelName?
    /// What the meter said about itself.
    package var device: DeviceInfo?
    package var transport: LinkAddress.Transport?
    /// What the gate says about the lease, if there is a gate.
    package var lease: LeaseStatus?
    /// The last error since which no data came.
    package var error: String?
    /// The last reading, completed with what other frames held, as programs get it (`Reading.published`).
    package var reading: TimedReading?
    /// Since when energy is counted for it; nil before its first reading.
    package var countedSince: WallTime?
    /// What it tells besides readings.
    package var told: ToldBody?
    /// The commands it takes.
    package var commands: [MeterProfile.CommandRule] = []

    package init(_ id: MeterID, state: ConnectionState, since: WallTime, isWanted: Bool) {
        self.id = id
        self.state = state
        self.since = since
        self.isWanted = isWanted
    }
}

extension MeterDirectory {
    /// What was counted for the meters, as the store has it, so that a power cut takes nothing back: as
    /// `Quantity.countedEnergy` and `countedCharge`.
    package func writtenTotals() -> [MeterID: Reading] { dependencies.counts?.written ?? [:] }

    /// All meters of this host, in the order of their ids. To be called only on the loop, where the sessions are:
    /// nothing waits, and no thread changes.
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
