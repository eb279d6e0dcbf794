import CoreTestKit
import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import Testing

/// Sessions and requests of people on a host that may only look (Docs/Relay.md#hosts-that-may-only-look).
@Suite(.timeLimit(.minutes(10)))
struct LeaseReadOnlyTests {
    /// Knows its role from the account.
    private func looker(_ bench: LeaseBench, knowsRole: Bool = true) async -> LeaseHost {
        let host = bench.host(2)
        host.link.set(.readOnly)
        if knowsRole { await host.keeper.roleIs(.readOnly) }
        await bench.advance(by: .seconds(1), host)
        return host
    }

    @Test(arguments: [true, false])
    func itsOwnMeter_isUsedWithoutALease_underKeep_andTheCloudIsLeftInPeace(knowsRole: Bool) async throws {
        let bench = LeaseBench(.keep)
        let host = await looker(bench, knowsRole: knowsRole)
        let session = try await host.pluggedIn()
        await bench.advance(by: .seconds(600), in: .seconds(1), host)

        #expect(await session.state == "data-available")
        let lease = await session.lease
        #expect(lease.state == .unleased && lease.read_only == true && lease.holder == nil)
        #expect(host.link.times(of: .acquire(.um)).count == (knowsRole ? 0 : 1))
        #expect(host.link.requests.count <= 20, "\(host.link.requests.count)")
        #expect(await host.keeper.lastFailure == nil, "a refusal is an answer")
        #expect(try await bench.leave(host, session) == .none)
    }

    @Test func itsOwnMeter_isNotUsed_underStrict_andPeopleAreToldWhy() async throws {
        let bench = LeaseBench(.strict)
        let host = await looker(bench)
        let directory = DirectoryBench(on: host.host, gate: host.keeper)
        try await directory.plugIn(.um25c)
        let set = try await directory.directory.set(["name": "Bench"], for: "\(MeterID.um)")
        #expect(set.stays_here == true)
        let connecting: Task<GatewayError?, any Error> = Task {
            await directory.failure { try await $0.connect("\(MeterID.um)", ConnectRequest(wait_ms: 30_000)) }
        }

        let failure = try await bench.advance(until: connecting, host)

        #expect(failure?.code == .permission)
        #expect(failure?.message.contains("may only look") == true)
        #expect(failure?.next.contains("metercloud token create") == true)
        #expect(try await directory.status().wanted == false)
        #expect(try await directory.status().lease?.state == LeaseStatus.State.none)
        await bench.advance(by: .seconds(300), in: .seconds(1), host)
        #expect(host.links.attempts == 0)
        #expect(!host.link.requests.contains(.acquire(.um)))
        await directory.directory.shutdown()
        _ = try await bench.leave(host)
    }

    /// Another host has the meter, and this one has it plugged in as well.
    private struct World {
        let bench = LeaseBench(.keep)
        let holder: LeaseHost
        let host: LeaseHost
        let session: DeviceSession
        let directory: DirectoryBench

        init() async throws {
            holder = bench.host(1)
            session = try await holder.pluggedIn()
            await bench.advance(by: .seconds(2), holder)
            host = bench.host(2)
            host.link.set(.readOnly)
            await host.keeper.roleIs(.readOnly)
            directory = DirectoryBench(on: host.host, gate: host.keeper)
            await bench.advance(by: .seconds(2), holder, host)
            try await directory.plugIn(.um25c)
        }

        func connect(_ change: (inout ConnectRequest) -> Void = { _ in }) async throws -> GatewayError? {
            var request = ConnectRequest(wait_ms: 30_000)
            change(&request)
            let asked = request
            let connecting: Task<GatewayError?, any Error> = Task { [directory] in
                await directory.failure { try await $0.connect("\(MeterID.um)", asked) }
            }
            return try await bench.advance(until: connecting, holder, host)
        }

        func leave() async throws {
            await directory.directory.shutdown()
            _ = try await bench.leave(host)
            #expect(try await bench.leave(holder, session) == .none)
        }
    }

    @Test func meterOfAnotherHost_isNotConnected_andNothingAdvisesToTakeIt() async throws {
        let world = try await World()

        let failure = try await world.connect()

        #expect(failure?.code == .held)
        #expect(failure?.message.contains("pi1 has \(MeterID.um)") == true)
        #expect(failure?.next == "meterctl watch \(MeterID.um) shows it here")
        #expect(try await world.directory.status().wanted == false)
        #expect(try await world.directory.status().lease?.state == .elsewhere)
        try await world.leave()
    }

    @Test func takeoverAndQueue_areRefusedAtOnce_withTheRemedy() async throws {
        let world = try await World()
        let before = world.host.link.requests.filter { $0 != .list }

        let takeover = try await world.connect { $0.takeover = true }
        let queue = try await world.connect { $0.queue_ms = 60_000 }

        for failure in [takeover, queue] {
            #expect(failure?.code == .permission)
            #expect(failure?.message.contains("may only look") == true)
            #expect(failure?.message.contains("pi1") == true)
            #expect(failure?.next.contains("metercloud token create") == true)
        }
        #expect(world.host.link.requests.filter { $0 != .list } == before)
        #expect(world.bench.zone.holder(of: .um) == "pi1")
        #expect(await world.session.state == "data-available")
        try await world.leave()
    }

    @Test func meter_isUsed_onceTheOtherHostHasLetGo() async throws {
        let world = try await World()
        _ = try await world.connect { $0.wait_ms = nil }
        await world.bench.advance(by: .seconds(5), world.holder, world.host)
        #expect(try await world.directory.status().lease?.state == .waiting)
        #expect(try await world.directory.status().wanted)

        await world.session.disconnect()
        await world.bench.advance(by: .seconds(5), world.holder, world.host)

        #expect(try await world.directory.status().state == "data-available")
        #expect(try await world.directory.status().lease?.state == .unleased)
        #expect(world.bench.zone.holder(of: .um) == nil)
        try await world.leave()
    }

    @Test(arguments: [true, false])
    func commands_areRefusedAtOnce_withTheRemedy(knowsRole: Bool) async throws {
        let bench = LeaseBench(.keep)
        let relay = SimulatedRelay(bench.zone)
        let holder = bench.host(1)
        let session = try await holder.pluggedIn()
        await bench.advance(by: .seconds(2), holder)
        let host = await looker(bench, knowsRole: knowsRole)
        relay.bar(host.keeper.identity.host)
        let commander = RelayCommander(
            link: relay.link(of: host.keeper.identity.host, named: "pi2"), keeper: host.keeper,
            newID: { .numbered(1) })

        for action in [RelayAction.command(MeterCommand(.rotate)), .startRecording(name: nil), .stopRecording] {
            let order = Task { try await commander.order(action, of: .um, named: "bench")?.result }
            let error = await #expect(throws: GatewayError.self) {
                _ = try await bench.advance(until: order, holder, host)
            }
            #expect(error?.code == .permission)
            #expect(error?.message.contains("pi1, which has bench") == true)
            #expect(error?.next.contains("metercloud token create") == true)
        }
        #expect(relay.orderCount == (knowsRole ? 0 : 3), "the cloud need not be asked")
        _ = try await bench.leave(host)
        #expect(try await bench.leave(holder, session) == .none)
    }
}
