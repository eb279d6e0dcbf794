import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Synchronization
import Testing

/// Hosts that share a zone and a clock.
struct LeaseBench {
    let loop = VirtualLoop()
    let zone: SimulatedLeaseZone

    init(_ policy: LeasePolicy) {
        zone = SimulatedLeaseZone(loop: loop, policy: policy)
    }

    /// A host with a running keeper that receives events.
    func host(
        _ number: UInt64, session: UInt64? = nil, previous: UInt64? = nil, policy: LeasePolicy = .keep,
        zonePolicy: LeasePolicy? = nil, tokens: [MeterID: FencingToken] = [:]
    ) -> LeaseHost {
        let id = HostID(high: 0x4000, low: number)
        let host = VirtualHost(loop: loop)
        let link = zone.join(id, name: "pi\(number)")
        let identity = LeaseKeeper.Identity(
            host: id, hostName: "pi\(number)", session: SessionID(high: 0x4000, low: session ?? number),
            previousSession: previous.map { SessionID(high: 0x4000, low: $0) })
        let zonePolicy = zonePolicy ?? zone.policy
        let keeper = LeaseKeeper(
            identity: identity, authority: link, hostPolicy: policy, zonePolicy: zonePolicy, tokens: tokens,
            loop: loop, rng: SplitMix64(seed: session ?? number), logger: host.log.logger, log: host.happened)
        link.listen { event in keeper.assumeIsolated { $0.handle(event) } }
        return LeaseHost(host: host, link: link, keeper: keeper, run: Task { await keeper.run() })
    }

    /// Lets time pass in small steps, and after each lets everything that it set off come to its end.
    func advance(
        by duration: Duration, in step: Duration = .milliseconds(250), _ hosts: LeaseHost...,
        each: () async -> Void = {}
    ) async {
        let end = loop.now + duration
        await settle(hosts)
        while loop.now < end {
            loop.advance(by: min(step, end - loop.now))
            await settle(hosts)
            await each()
        }
    }

    /// The same, until a task that waits for time to pass is over.
    func advance<Value: Sendable>(until task: Task<Value, any Error>, _ hosts: LeaseHost...) async throws -> Value {
        let isOver = Atomic(false)
        async let watching: Void = {
            _ = await task.result
            isOver.store(true, ordering: .releasing)
        }()
        let patience = Patience("the task is over that waits for time to pass")
        while !isOver.load(ordering: .acquiring) {
            loop.advance(by: .milliseconds(50))
            await settle(hosts)
            try await patience.turn()
        }
        await watching
        return try await task.value
    }

    /// Ends the sessions and then releases the leases, and returns what is left.
    func leave(_ host: LeaseHost, _ sessions: DeviceSession...) async throws -> Leftovers {
        for session in sessions { await session.shutdown() }
        let ending = Task { () async throws -> Void in await host.keeper.shutdown() }
        try await advance(until: ending, host)
        host.link.listen(nil)
        host.run.cancel()
        await host.run.value
        return Leftovers(on: loop, host.links)
    }

    /// Returns once every call of the hosts hangs in the zone, waiting for time to pass.
    private func settle(_ hosts: [LeaseHost]) async {
        for host in hosts {
            await #expect(throws: Never.self) {
                try await eventually("every call hangs in the zone") {
                    await host.keeper.callsUnderWay == host.link.parkedCount
                }
            }
        }
    }
}

/// One host of a zone: sessions on one side, a link to the cloud on the other.
struct LeaseHost {
    let host: VirtualHost
    let link: SimulatedLeaseLink
    let keeper: LeaseKeeper
    let run: Task<Void, Never>

    var links: SimulatedLinks { host.links }

    /// A session with a meter that is already plugged in.
    func pluggedIn(
        _ model: ModelName = .um25c, id: MeterID = .um, at path: String = .port, isWanted: Bool = true,
        catalogue: MeterCatalogue = .standard
    ) async throws -> DeviceSession {
        try await host.pluggedIn(model, id: id, at: path, isWanted: isWanted, gate: keeper, catalogue: catalogue)
    }

    /// Kills the process: nothing is closed, released or reported.
    func kill() {
        link.listen(nil)
        link.set(.unreachable)
        run.cancel()
    }
}

extension DeviceSession {
    var lease: LeaseStatus { status().lease ?? LeaseStatus(.none) }
}
