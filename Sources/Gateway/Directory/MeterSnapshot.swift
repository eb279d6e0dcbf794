import ConnectionCore
package import GatewayAPI
import IOPorts
package import MeterCodec
package import MeterModel

/// One meter as it is now, for somebody who looks often: values as they are kept, none of them put into words.
package struct MeterSnapshot: Sendable {
    package var id: MeterID
    package var state: ConnectionState
    package var since: WallTime
    package var isWanted: Bool
    /// What a person calls it, else what it calls itself.
    package var name: String?
    package var model: ModelName?
    /// What it said of itself.
    package var device: DeviceInfo?
    package var transport: LinkAddress.Transport?
    /// nil: no gate has a say in who uses it.
    package var lease: LeaseStatus?
    /// The last thing that went wrong and has not been made good by data since.
    package var error: String?
    /// The last reading, with what other frames of the meter held.
    package var reading: TimedReading?
    /// What it can be told.
    package var commands: [MeterProfile.CommandRule] = []

    package init(_ id: MeterID, state: ConnectionState, since: WallTime, isWanted: Bool) {
        self.id = id
        self.state = state
        self.since = since
        self.isWanted = isWanted
    }
}

extension MeterDirectory {
    /// All meters of this host, in the order of their ids. On the loop only, where the sessions are: nobody waits, and no
    /// thread is changed.
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
        snapshot.commands = driver?.profile.commands ?? []
        return snapshot
    }
}
