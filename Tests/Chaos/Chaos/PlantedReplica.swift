import Cloud
import CloudAPI
import CloudEtcd
import CloudServer
import Domain
import Foundation
import LeaseWitness
import LinuxIO
import Logging
import ServerKit
import ServiceLifecycle

/// A copy of the cloud over etcd as `metercloud` is one, but for a fault that was put in: the run has to find it.
struct PlantedReplica {
    let options: ChaosOptions

    func run() async throws {
        let name = try options.text("fault")
        let fault = PlantedFault(rawValue: name)
        guard fault != nil || name == "nothing" else { throw ChaosFailure("no fault is called \(name)") }
        let engine = try await etcd(options)
        let faulty = FaultyEngine(engine, fault: fault, walkTime: .microseconds(40))
        if fault == .ignoresLeaseLimit {
            // Past this copy, the console gave the zones their limits.
            for zone in try await engine.zones() { try await faulty.setQuota(zone.quota, of: zone.name) }
        }
        let rng = SystemRandomNumberGenerator()
        let service = CloudService(
            engine: faulty, clock: clock, rng: rng, logger: quiet)
        var limits = RequestGate.Limits()
        limits.perCredential = Rate(perSecond: 100_000, burst: 100_000)
        limits.perAddress = limits.perCredential
        let routes = CloudRoutes(
            service: service, gate: RequestGate(limits: limits, now: clock.now), clock: clock, version: "1",
            makeToken: {
                var rng = SystemRandomNumberGenerator()
                return BearerToken(using: &rng)
            })
        let application = CloudApplication(
            routes: routes, host: "127.0.0.1", port: Int(try options.number("port")), tls: nil, logger: quiet)
        listen(for: engine)
        let group = ServiceGroup(
            services: [
                CloudMaintenance(service: service), try application.service { _ in say("running") },
                CloudStreamEnder(service: service),
            ], logger: quiet)
        try await group.run()
    }

    /// Takes a zone's new policy from this process's input, `ZONE POLICY`, as there is no console to tell it to.
    private func listen(for engine: EtcdCloudEngine) {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let words = readLine() { line.yield(words) }
            line.finish()
        }
        Task {
            for await words in lines {
                let parts = words.split(separator: " ").map(String.init)
                guard parts.count == 2, let policy = LeasePolicy(rawValue: parts[1]),
                    let terms = try await engine.zone(parts[0])?.terms
                else { throw ChaosFailure("no policy of a zone: \(words)") }
                try await engine.setTerms(
                    LeaseTerms(timeToLive: terms.timeToLive, lockDelay: terms.lockDelay, policy: policy), of: parts[0])
                say("\(parts[0])-is-\(policy.rawValue)")
            }
        }
    }
}
