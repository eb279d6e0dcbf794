import Cloud
import CloudAPI
import CloudServer
import CloudStore
import Glibc
import LinuxIO
import Logging
import MeterModel

/// The store of a folder, and the service over it.
struct OpenCloud {
    let engine: SQLiteCloudEngine
    let service: CloudService
    let console: Console
    let clock: CloudClock

    /// - Throws: `CommandFailure` where the store cannot be opened, as when a server has it.
    init(folder: CloudFolder, logger: Logger) throws {
        clock = .system
        var dice = SystemRandomNumberGenerator()
        do throws(CloudStoreError) {
            engine = try SQLiteCloudEngine.open(directory: folder.path, now: clock.now(), dice: &dice)
        } catch {
            throw CommandFailure(error)
        }
        service = CloudService(engine: engine, clock: clock, dice: SystemRandomNumberGenerator(), logger: logger)
        console = Console(service: service, makeToken: Self.makeToken) { [engine, clock] path in
            do throws(CloudStoreError) {
                try await engine.backup(to: path, at: clock.wallNow())
            } catch {
                throw CloudFailure(.serviceUnavailable, error.message)
            }
        }
    }

    /// Writes back what is in the store's log. What was acknowledged is safe without it.
    func close(logger: Logger) {
        do throws(CloudStoreError) {
            try engine.close()
        } catch {
            logger.warning("store not closed", metadata: ["cause": "\(error)"])
        }
    }

    @Sendable static func makeToken() -> BearerToken {
        var dice = SystemRandomNumberGenerator()
        return BearerToken(using: &dice)
    }
}

extension CloudClock {
    /// The machine's own. Swift's `ContinuousClock` is the boot-time clock that `LinuxClock` reads.
    static var system: CloudClock {
        CloudClock(
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow },
            sleep: { time in
                try await ContinuousClock().sleep(for: max(.zero, time - LinuxClock.now))
            })
    }
}

extension Logger {
    static var quiet: Logger { Logger(label: "metercloud") { _ in SwiftLogNoOpLogHandler() } }
}

extension CommandFailure {
    /// What the store said: what failed, and after a full stop what to do, where there is anything.
    init(_ error: CloudStoreError) {
        let parts = error.message.split(separator: ". ", maxSplits: 1).map { String($0) }
        self.init(
            error.code == .readOnly ? .noPermission : .error, parts.first ?? error.message,
            next: parts.count == 2 ? parts[1] : "see Docs/Operating.md")
    }
}

extension SQLiteCloudEngine {
    /// For `/metrics`.
    func gauges() async throws -> [MetricsRegistry.Gauge] {
        let figures = try await statistics()
        return [
            MetricsRegistry.Gauge("metercloud_zones", help: "Zones.", value: Double(figures.zones)),
            MetricsRegistry.Gauge(
                "metercloud_records", help: "Records of all zones, deleted ones too.", value: Double(figures.records)),
            MetricsRegistry.Gauge(
                "metercloud_leases", help: "Leases that somebody holds.", value: Double(figures.leases)),
            MetricsRegistry.Gauge(
                "metercloud_commits_total", help: "Transactions of the store.", value: Double(figures.commits),
                isCounter: true),
            MetricsRegistry.Gauge(
                "metercloud_writes_total", help: "Writes in those transactions, which many share.",
                value: Double(figures.writes), isCounter: true),
        ]
    }
}
