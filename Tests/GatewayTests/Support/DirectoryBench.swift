import Gateway
import GatewayAPI
import MeterModel
import MeterSimulator
import MeterTestKit
import Testing

/// A directory on a virtual host. Two of them on one repository are a daemon before and after a restart.
struct DirectoryBench {
    let host: VirtualHost
    let sightings = ScriptedSightings()
    let directory: MeterDirectory

    init(_ repository: any MeterRepository, on host: VirtualHost = VirtualHost(), gate: (any LinkGate)? = nil) {
        self.host = host
        let edges = MeterDirectory.Edges(
            loop: host.loop, opener: host.links, sightings: sightings, repository: repository, recorder: host.recorder,
            hostName: "pi", makeDice: { SimulatorNoise(seed: 7) }, gate: gate)
        directory = MeterDirectory(edges: edges, logger: host.log.logger)
    }

    /// Plugs a simulated meter in; the watcher tells of it.
    func plugIn(_ model: ModelName, id: MeterID = .um, at path: String = .port, name: String? = nil) async throws {
        host.links.plug(try #require(SimulatorCatalogue.meter(model)), at: path)
        await directory.take(.appeared(.of(model, id: id, at: path, name: name)))
    }

    func status(of id: MeterID = .um) async throws -> MeterStatus {
        try #require(await directory.status().first { $0.id == "\(id)" })
    }

    func leave() async -> Leftovers {
        await directory.shutdown()
        return Leftovers(on: host.loop, host.links)
    }

    /// The error that a request ends with, nil if it does not.
    func failure(_ request: (MeterDirectory) async throws -> some Sendable) async -> GatewayError? {
        do {
            _ = try await request(directory)
            return nil
        } catch {
            return error as? GatewayError
        }
    }
}
