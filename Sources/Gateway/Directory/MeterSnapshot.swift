package import GatewayAPI
package import MeterCodec
package import MeterModel

/// One meter as it is now, with what its status does not tell: the moment of its reading, and what it can be told.
package struct MeterSnapshot: Sendable {
    package var id: MeterID
    package var status: MeterStatus
    /// The last reading, with what other frames of the meter held.
    package var reading: TimedReading?
    package var commands: [MeterProfile.CommandRule]
}

extension MeterDirectory {
    /// All meters of this host, in the order of their ids.
    package func snapshots() async -> [MeterSnapshot] {
        var all: [MeterSnapshot] = []
        for (_, session) in sessions.sorted(by: { $0.key < $1.key }) { all.append(await session.snapshot()) }
        return all
    }
}

extension DeviceSession {
    func snapshot() -> MeterSnapshot {
        let status = status()
        var reading = latest
        if let whole = status.reading?.reading { reading?.reading = whole }
        return MeterSnapshot(id: id, status: status, reading: reading, commands: driver?.profile.commands ?? [])
    }
}
