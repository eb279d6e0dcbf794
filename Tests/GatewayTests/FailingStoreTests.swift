import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import StoreTestKit
import Testing

/// A store that fails never stops a session.
@Suite(.timeLimit(.minutes(10)))
struct FailingStoreTests {
    private let full = StoreError(.diskFull, "no space is left in /var/lib/meterd")

    @Test func meter_isServed_whenNothingCanBeReadOrWritten() async throws {
        let bench = DirectoryBench(meters: FailingRepository(), settings: FailingRepository())
        try await bench.plugIn(.um25c)

        let failure = await bench.failure { try await $0.connect("\(MeterID.um)", ConnectRequest()) }
        bench.host.loop.advance(by: .seconds(1))

        #expect(failure?.code == .store)
        #expect(failure?.message.contains("no space is left in /var/lib/meterd") == true)
        #expect(try await bench.status().state == "data-available")
        #expect(bench.host.log.entries(saying: "meter not saved").count == 1)
        #expect(await bench.leave() == .none)
    }

    @Test func disconnect_letsGo_thoughItCannotBeRemembered() async throws {
        let bench = DirectoryBench()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(1))

        bench.host.access.failWrites(with: full)
        let failure = await bench.failure { try await $0.disconnect("\(MeterID.um)") }

        #expect(failure?.code == .store)
        #expect(try await bench.status().state == "not-connected")
        #expect(bench.host.links.openChannels == 0)
    }

    @Test func setting_thatCannotBeStored_hasNoEffect() async throws {
        let bench = DirectoryBench()
        try await bench.plugIn(.um25c)

        bench.host.access.failWrites(with: full)
        let failure = await bench.failure { try await $0.set(["name": "Bench"], for: "\(MeterID.um)") }

        #expect(failure?.code == .store)
        #expect(try await bench.status().name == nil)
    }

    @Test func runningSession_goesOn_whileTheStoreFails() async throws {
        let bench = DirectoryBench()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.access.failWrites(with: full)

        bench.host.loop.advance(by: .seconds(60))
        await bench.directory.handle(.vanished(.of(.um25c)))
        try await bench.plugIn(.um25c)
        bench.host.loop.advance(by: .seconds(1))

        let status = try await bench.status()
        #expect(status.state == "data-available")
        #expect(status.counters.connects == 2)
    }

    @Test func restore_says_thatTheStoreCannotBeRead() async {
        let bench = DirectoryBench(meters: FailingRepository(full))

        await #expect(throws: full) { try await bench.directory.restore() }
    }
}
