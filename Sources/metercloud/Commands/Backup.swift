import ArgumentParser
import Cloud
import CloudAPI
import CloudEtcd
import CloudHosting
import CloudServer
import CloudStore
import Glibc
import LinuxIO
import Logging
import ProgramKit

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a backup to a new file. The server may be running.",
        discussion: """
            The backup contains settings, leases and the digests of tokens, but not the certificate's key. Also copy \
            key.pem from the cloud's folder (--data) once, so that hosts recognise the restored cloud by the same \
            fingerprint (pin). metercloud serve --backup-directory writes a backup every day.
            """)

    @Argument(help: "Path of the new file.") var file: String
    @OptionGroup var data: DataOptions

    func run() async throws {
        let path = file.absolutePath
        _ = try await ConsoleClient(folder: data.folder).ask(.backup(path: path))
        Terminal.talk("\(path) is written")
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace the cloud with a backup. The server must not be running.",
        discussion: """
            The previous store is kept under another name in the same folder. Hosts notice the restore, fetch \
            everything again and send the changes that the backup lacks. No meter is leased to another host until \
            every lease granted since the backup has expired.

            With --engine etcd, FILE is loaded into etcd, which must not contain a cloud under --etcd-prefix. After \
            etcdctl snapshot restore, run metercloud restore once without FILE, before the first replica starts.
            """)

    @Argument(help: "Path of the backup file. Optional with --engine etcd.") var file: String?
    @Flag(help: "Restore even if this machine's clock is behind the date of the backup.") var ignoreClock = false
    @OptionGroup var data: DataOptions
    @OptionGroup(title: "Store") var store: StoreOptions

    func validate() throws {
        switch store.engine {
        case .sqlite: if file == nil { throw ValidationError("which backup? metercloud restore FILE") }
        case .etcd: break
        }
    }

    func run() async throws {
        if let settings = try store.etcd {
            try await settle(settings)
        } else if let file {
            try putBack(file)
        }
    }

    private func putBack(_ file: String) throws {
        guard !data.folder.isOverEtcd else {
            throw CommandFailure(
                .error, "\(data.folder.path) belongs to a cloud in etcd, which restores its own backups",
                next: "see Docs/Scale.md")
        }
        var rng = SystemRandomNumberGenerator()
        do throws(CloudStoreError) {
            let report = try CloudRestore.run(
                from: file.absolutePath, into: data.folder.path, at: LinuxClock.wallNow, ignoresClock: ignoreClock,
                rng: &rng)
            Terminal.talk("\(report.zones) zones, \(report.records) records and \(report.leases) leases are restored")
            if let replaced = report.replaced { Terminal.talk("what was there before is in \(replaced)") }
            Terminal.talk("start it again with metercloud serve")
        } catch {
            throw CommandFailure(error)
        }
    }

    private func settle(_ settings: EtcdSettings) async throws {
        do {
            let report =
                if let file { try await bring(file, to: settings) } else { try await Self.mark(settings) }
            Terminal.talk("the restored etcd has \(report.leases) leases, and its cloud begins anew with them")
            Terminal.talk("start every copy again with metercloud serve --engine etcd")
        } catch let error as EtcdError {
            throw CommandFailure(error)
        } catch let failure as CloudFailure {
            throw CommandFailure(failure.content)
        }
    }

    private func bring(_ path: String, to settings: EtcdSettings) async throws -> EtcdRestore {
        guard access(path, R_OK) == 0 else {
            throw CommandFailure(.error, "\(path) cannot be read: \(Errno.last)", next: "check the path")
        }
        var rng = SystemRandomNumberGenerator()
        return try await EtcdBackup(path: path.absolutePath).restore(
            to: settings, at: LinuxClock.wallNow, ignoresClock: ignoreClock, clock: .system, rng: &rng,
            logger: Self.quiet)
    }

    /// Turns the store that etcdctl restored into a separate one with its own epoch (`EtcdRestore`).
    private static func mark(_ settings: EtcdSettings) async throws -> EtcdRestore {
        var rng = SystemRandomNumberGenerator()
        let engine = try await EtcdCloudEngine.open(settings, clock: .system, rng: &rng, logger: quiet)
        let report: Result<EtcdRestore, any Error>
        do {
            report = .success(try await EtcdRestore.run(on: engine, at: LinuxClock.wallNow, rng: &rng))
        } catch {
            report = .failure(error)
        }
        await engine.close()
        return try report.get()
    }

    private static var quiet: Logger { Logger(label: "metercloud") { _ in SwiftLogNoOpLogHandler() } }
}
