import ConnectionCore
package import GatewayAPI
package import MeterCodec
package import MeterModel
import Synchronization

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

/// The sessions of a directory, for those on the loop who look at all of them and cannot wait.
final class SessionRoster: Sendable {
    private let sessions = Mutex<[DeviceSession]>([])

    /// In the order of their ids.
    var all: [DeviceSession] { sessions.withLock { $0 } }

    func become(_ present: [MeterID: DeviceSession]) {
        // Ids are compared by their texts: each is made once.
        let inOrder = present.map { ("\($0.key)", $0.value) }.sorted { $0.0 < $1.0 }.map(\.1)
        sessions.withLock { $0 = inOrder }
    }
}

extension MeterDirectory {
    /// All meters of this host, in the order of their ids. On the loop only, where the sessions are: nobody waits, and no
    /// thread is changed.
    package nonisolated func snapshots() -> [MeterSnapshot] {
        roster.all.map { session in session.assumeIsolated { $0.snapshot() } }
    }
}

extension DeviceSession {
    func snapshot() -> MeterSnapshot {
        var snapshot = MeterSnapshot(id, state: machine.state, since: stateSince, isWanted: machine.isWanted)
        snapshot.name = displayName
        snapshot.model = device?.model ?? model
        snapshot.device = device
        snapshot.transport = link?.transport
        snapshot.lease = gate?.lease(of: id)
        snapshot.error = lastError
        snapshot.reading = latest.map {
            TimedReading(wallTime: $0.wallTime, time: $0.time, reading: whole($0, at: loop.now))
        }
        snapshot.commands = driver?.profile.commands ?? []
        return snapshot
    }
}
