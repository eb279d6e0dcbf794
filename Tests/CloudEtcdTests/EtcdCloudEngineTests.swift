import Cloud
import Domain
import Logging
import MeterTestKit
import Testing

@testable import CloudEtcd

/// One etcd for all of these, and a prefix for each.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdCloudEngineTests {
    private static let server = Result { try EtcdServer.started() }

    @Test(arguments: CloudEngineContract.clauses)
    func engine_keepsTheContract(_ clause: ContractClause<any CloudEngine>) async throws {
        var settings = try Self.server.get().settings
        settings.prefix = "\(clause.name)/"
        let engine = try await EtcdCloudEngine.open(settings)

        let result: Result<Void, any Error>
        do {
            result = .success(try await clause.check(engine))
        } catch {
            result = .failure(error)
        }

        await engine.close()
        try result.get()
    }
}

extension EtcdCloudEngine {
    /// With real clocks, for waiting, unless another is given.
    static func open(_ settings: EtcdSettings, clock: CloudClock = .real) async throws(EtcdError) -> EtcdCloudEngine {
        var rng = SystemRandomNumberGenerator()
        return try await open(
            settings, clock: clock, rng: &rng, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension CloudClock {
    static var real: CloudClock {
        let start = ContinuousClock.now
        return CloudClock(
            now: { MonotonicTime(sinceOrigin: ContinuousClock.now - start) },
            wallNow: { WallTime(millisecondsSince1970: 1_795_000_000_000) },
            sleep: { time in
                let left = time - MonotonicTime(sinceOrigin: ContinuousClock.now - start)
                try await ContinuousClock().sleep(for: max(.zero, left))
            })
    }
}
