import ArgumentParser
import Cloud
import CloudEtcd
import CloudHosting
import CloudServer
import CloudStore
import Domain
import LinuxIO
import Logging
import ProgramKit
import Synchronization

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move a cloud from its file into etcd. The server must not be running.",
        discussion: """
            Settings, leases and tokens move too. Afterwards, run metercloud serve --engine etcd with the same folder \
            and address, so that hosts notice only a pause. Hosts keep their meters during a pause of up to two \
            minutes.

            To finish an interrupted move, run metercloud migrate again. The file is kept under another name, and no \
            cloud can use it again. To move back, restore a backup with metercloud restore.
            """)

    @OptionGroup var data: DataOptions
    @OptionGroup(title: "Destination") var etcd: EtcdOptions

    func validate() throws {
        if etcd.urls.isEmpty {
            throw ValidationError("where does it go? metercloud migrate --etcd http://127.0.0.1:2379")
        }
    }

    func run() async throws {
        let settings = try etcd.settings
        let folder = data.folder
        guard !folder.isOverEtcd else {
            throw CommandFailure(
                .error, "the cloud of \(folder.path) is in etcd already",
                next: "start it with metercloud serve --engine etcd"
            )
        }
        guard folder.hasFile else {
            throw CommandFailure(.error, "\(folder.path) has no cloud in it", next: "name its folder with --data")
        }
        do {
            let arrival = try await move(from: folder, to: settings)
            Terminal.talk(
                arrival.wasThere
                    ? "all of it is in etcd already"
                    : "\(arrival.zones) zones, \(arrival.records) records, \(arrival.leases) leases and "
                        + "\(arrival.credentials) tokens are in etcd")
            let old = try SQLiteCloudEngine.setAsideDeparted(directory: folder.path, at: LinuxClock.wallNow)
            try folder.markAsOverEtcd()
            if let old { Terminal.talk("the file is kept as \(old)") }
            Terminal.talk("start it again with metercloud serve --engine etcd, with the same --etcd and --data")
        } catch let error as CloudStoreError {
            throw CommandFailure(error)
        } catch let error as EtcdError {
            throw CommandFailure(error)
        } catch let failure as CloudFailure {
            throw CommandFailure(failure.content)
        }
    }

    private func move(from folder: CloudFolder, to settings: EtcdSettings) async throws -> EtcdArrival {
        var rng = SystemRandomNumberGenerator()
        var options = SQLiteCloudEngine.Options()
        options.opensDeparted = true
        let engine = try SQLiteCloudEngine.open(
            directory: folder.path, now: LinuxClock.now, rng: &rng, options: options)
        let result: Result<EtcdArrival, any Error>
        do {
            let faults = try await engine.check()
            guard faults.isEmpty else {
                throw CommandFailure(
                    .error, "the store in \(folder.path) is damaged: \(faults.prefix(3).joined(separator: "; "))",
                    next: "restore it from a backup first")
            }
            let progress = ProgressText()
            result = .success(
                try await EtcdArrival.run(
                    from: engine, to: settings, at: LinuxClock.wallNow, clock: .system, rng: &rng,
                    logger: Logger(label: "metercloud") { _ in SwiftLogNoOpLogHandler() }, progress: progress.tell))
        } catch {
            result = .failure(error)
        }
        try engine.close()
        return try result.get()
    }
}

private final class ProgressText: Sendable {
    private static let step = 10_000
    private let told = Mutex(0)

    @Sendable func tell(_ arrival: EtcdArrival) {
        let steps = (arrival.leases + arrival.records) / Self.step
        let isNews = told.withLock { told in
            defer { told = max(told, steps) }
            return steps > told
        }
        if isNews { Terminal.talk("\(arrival.leases) leases and \(arrival.records) records so far") }
    }
}
