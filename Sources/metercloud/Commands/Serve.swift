public import ArgumentParser
import CloudAPI
import CloudServer
import Domain
import FoundationEssentials
import GatewayAPI
import Glibc
import LinuxIO
public import Logging
import ProgramKit
import ServerKit

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the cloud server until it is stopped.",
        discussion: """
            metercloud serve needs no configuration. The first start creates the folder, a certificate, the zone \
            "home" and a token with which hosts join the zone.
            """)

    @OptionGroup var data: DataOptions

    @OptionGroup(title: "Store") var store: StoreOptions

    @Option(help: ArgumentHelp("Address and port to listen on.", valueName: "address:port"))
    var listen = ServeAddress.everywhere

    @Option(help: "Name or address of this machine to include in the certificate. Repeatable.")
    var name: [String] = []

    @Flag(help: "Serve without TLS. Only with a loopback address: --listen 127.0.0.1:8643.")
    var noTls = false

    @Option(
        help: ArgumentHelp(
            "Maximum requests per second with one token. An address without a valid token gets a tenth of this rate.",
            valueName: "n"))
    var rate = 100

    @Option(
        help: ArgumentHelp(
            "Maximum connections per address (or IPv6 /64). This machine and each --proxy get eight times as many.",
            valueName: "n"))
    var connectionsPerAddress = 64

    @Option(
        help: ArgumentHelp(
            "Address of a proxy through which many hosts connect. A proxy may open eight times as many connections as "
                + "another address. Repeatable.", valueName: "address"))
    var proxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "With --engine etcd: URL at which other replicas of this cloud reach this replica. Default: the URL in "
                + "the meterctl cloud join command that metercloud serve prints.",
            valueName: "url"))
    var advertise: String?

    @Flag(help: "Do not announce this cloud in the network (Avahi). A loopback address is never announced.")
    var noAnnounce = false

    @OptionGroup var backups: BackupOptions

    @Option(help: "Level of the log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        if noTls, !listen.isLoopback {
            throw ValidationError(
                "--no-tls would send tokens over the network in the clear from \(listen.description); "
                    + "listen on 127.0.0.1 with it, or leave it out")
        }
        if rate < 1 { throw ValidationError("--rate cannot be \(rate); it is at least 1") }
        if !(1...4096).contains(connectionsPerAddress) {
            throw ValidationError("--connections-per-address cannot be \(connectionsPerAddress); it takes 1 to 4096")
        }
        if let bad = proxy.first(where: { IPAddress.bytes(of: $0) == nil }) {
            throw ValidationError("--proxy cannot be \"\(bad)\"; it is an address, without port")
        }
        if let advertise {
            if store.engine != .etcd {
                throw ValidationError("--advertise is for --engine etcd, whose copies reach each other")
            }
            if !isReachable(advertise) {
                throw ValidationError(
                    "--advertise cannot be \"\(advertise)\"; it is an address such as https://cloud1.lan:8643")
            }
        }
        if let bad = name.first(where: { !Self.isName($0) }) {
            throw ValidationError("--name cannot be \"\(bad)\"; it is a host name or an address, without port")
        }
    }

    func run() async throws {
        LogFormat.bootstrap()
        var logger = Logger(label: "metercloud")
        logger.logLevel = logLevel
        let server = Server(
            folder: data.folder, etcd: try store.etcd, address: listen, names: name, usesTLS: !noTls, rate: rate,
            connectionsPerAddress: connectionsPerAddress, proxies: proxy, advertise: advertise,
            announces: !noAnnounce, backups: backups.settings, logger: logger,
            manager: ServiceManager(environment: ProcessInfo.processInfo.environment))
        do {
            try await server.run()
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as CloudSetupError {
            throw CommandFailure(.error, error.message, next: "see that \(data.folder.path) is this user's, and whole")
        }
    }

    private func isReachable(_ url: String) -> Bool {
        let scheme = noTls ? "http://" : "https://"
        guard url.hasPrefix(scheme), url.utf8.count <= 300, !url.contains(where: { "?#@ ".contains($0) }),
            let authority = URLAuthority(url.dropFirst(scheme.count)), !authority.host.contains("/")
        else { return false }
        return !noTls || authority.isLoopback
    }

    private static func isName(_ text: String) -> Bool {
        if IPAddress.bytes(of: text) != nil { return true }
        return !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

struct BackupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder to which metercloud regularly writes a backup, preferably on another disk. Default: no backups. "
                + "With etcd, one replica at a time writes them.",
            valueName: "folder"))
    var backupDirectory: String?

    @Option(help: ArgumentHelp("Interval between backups, such as 6h.", valueName: "time"))
    var backupEvery = BackupSettings().every.shortText

    @Option(help: ArgumentHelp("Maximum number of backups to keep.", valueName: "n"))
    var backupKeep = BackupSettings().keep

    var settings: BackupSettings {
        var settings = BackupSettings(directory: backupDirectory?.absolutePath)
        settings.every = Duration(shortText: backupEvery) ?? settings.every
        settings.keep = backupKeep
        return settings
    }

    func validate() throws {
        if backupDirectory?.isEmpty == true { throw ValidationError("--backup-directory names no folder") }
        let (times, counts) = (BackupSettings.everyRange, BackupSettings.keepRange)
        guard Duration(shortText: backupEvery).map(times.contains) ?? false else {
            throw ValidationError("--backup-every cannot be \"\(backupEvery)\"; it is from 1h to 720h")
        }
        guard counts.contains(backupKeep) else {
            throw ValidationError("--backup-keep cannot be \(backupKeep); it is from 2 to 1000")
        }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
