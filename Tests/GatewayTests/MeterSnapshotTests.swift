import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import Testing

/// What code on the loop sees of all meters, without waiting.
struct MeterSnapshotTests {
    private let bench = DirectoryBench()

    /// Taken on the loop, in one pass.
    private func snapshots() -> [MeterSnapshot] {
        bench.host.loop.result { [directory = bench.directory] in directory.snapshots() }
    }

    @Test func snapshot_sayWhatTheStatusSays() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(3))
        _ = try await bench.directory.set(["name": "Bench"], for: "\(MeterID.um)")

        let snapshot = try #require(snapshots().first)
        let status = try await bench.status()

        #expect(snapshot.id == .um)
        #expect(snapshot.state.rawValue == status.state && snapshot.state == .dataAvailable)
        #expect(snapshot.since.description == status.since)
        #expect(snapshot.isWanted == status.wanted)
        #expect(snapshot.name == status.name)
        #expect(snapshot.model?.displayName == status.model)
        #expect(snapshot.transport?.rawValue == status.transport)
        #expect(snapshot.error == status.error)
        #expect(snapshot.reading?.reading == status.reading?.reading.published)
        #expect(snapshot.told == status.told && snapshot.told?.details["charging_mode"] != nil)
        #expect(snapshot.reading != nil && !snapshot.commands.isEmpty)
        #expect(await bench.leave() == .none)
    }

    @Test func snapshots_areInOrder_andFollowWhatComes() async throws {
        #expect(snapshots().isEmpty)

        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/ttyACM0")
        try await bench.plugIn(.um25c)

        #expect(snapshots().map(\.id) == [.um, .tc])
        #expect(snapshots().map(\.state) == [.notConnected, .notConnected])
        #expect(await bench.leave() == .none)
    }
}
