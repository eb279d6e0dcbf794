import BluetoothCore
import Gateway
import GatewayAPI
import HomeAutomation
import IOPorts
import InfluxCore
import LeaseCore
import LinuxIO
import Logging
import MeterCodec
import MeterModel
import Notifications
import ServerKit
import SyncCore

/// All settings, with defaults that work without a file (Docs/CommandLine.md#configuration).
struct Configuration: Hashable, Sendable {
    /// The folder of the store.
    var stateDirectory: String
    var socketPath: String
    var logLevel: Logger.Level = .info
    /// How long a reading may wait in memory before it is written, which is what a power cut costs at most.
    var flushInterval: Duration = .seconds(60)
    /// Age in days at which single readings that came fast are replaced by seconds.
    var rawDays = 30
    /// Age in days at which single readings and seconds are deleted.
    var keepDays = 400
    /// Age in days at which minutes are deleted; hours stay.
    var minuteDays = 1830
    /// Largest size of the store in megabytes; the oldest readings are deleted first.
    var maxMegabytes = 2048
    /// The name of this host for other hosts. Nil for the system's.
    var hostName: String?
    var cloud = Cloud()
    var relay = Relay()
    /// How much the sync engine does at once, and how long it waits.
    var sync = SyncTiming()
    var bluetooth = Bluetooth()
    var web = Web()
    var mqtt = MQTT()
    var influx = Influx()
    /// Those that can be told of alerts, in the order of their names.
    var notify: [NotificationTarget] = []
    /// The meters that are known, with those that a person described.
    var catalogue = MeterCatalogue.standard
    /// Serial ports that have a meter behind them, according to a person.
    var ports: [Port] = []

    /// How this host shares meters with others. Which cloud it belongs to is not configured here: `meterctl cloud
    /// join`.
    struct Cloud: Hashable, Sendable {
        /// Whether this meterd serves the cloud itself, so that a home needs no other machine.
        var serves = false
        var listen = Listen(host: "0.0.0.0", port: 8643)
        /// `strict` if this host wants it stricter than its zone.
        var policy = LeasePolicy.keep
        /// A wish; the zone caps it.
        var timeToLive = LeaseTerms.standard.timeToLive

        /// Addresses of proxies through which many hosts reach the cloud that is served here.
        var proxies: [String] = []
        /// Most connections from one address. Loopback and proxies have eight times as many.
        var connectionsPerAddress = 64

        /// Where the cloud is served.
        struct Listen: Hashable, Sendable {
            var host: String
            var port: Int
        }
    }

    /// What other hosts of the zone see and may do of this host's meters.
    struct Relay: Hashable, Sendable {
        /// Whether they see what the meters measure.
        var shares = true
        /// Whether they may send commands to the meters, and begin and end recordings.
        var takesCommands = true
    }

    /// How this host uses its radios.
    struct Bluetooth: Hashable, Sendable {
        /// If false, radios are not used at all.
        var isUsed = true
        /// The adapters to use; empty for all of them.
        var adapters: Set<MACAddress> = []
        /// Number of links to meters that one adapter is assumed to support at once.
        var linksMax = 5
        /// Where to leave requests for root's helper. Nil if no service manager runs this program. Not a key of the
        /// file.
        var requestFolder: String?
        /// How much airtime the search for meters may use.
        var search = SearchMode.gentle
    }

    /// The web page. Whether the network can reach it is not configured here: `meterctl web enable`.
    struct Web: Hashable, Sendable {
        /// If false, there is no page.
        var serves = true
        /// Where it listens while only this machine can reach it.
        var listen = Cloud.Listen(host: "127.0.0.1", port: 8642)
        /// Further names of this host under which a browser may request the page and that the machine does not know.
        var names: [String] = []
    }

    /// The broker to which meters are published, for Home Assistant and others.
    struct MQTT: Hashable, Sendable {
        /// Nil for no broker.
        var address: BrokerAddress?
        /// The file with user and password, if the broker requires them.
        var credentialsPath: String?
        /// The certificates one of which must have issued the broker's. Nil for those that the system trusts.
        var certificatePath: String?
        var discoveryPrefix = "homeassistant"
        var baseTopic = "metergateway"
        /// How often a meter's reading is published.
        var interval = Duration.seconds(5)
    }

    /// The time series database that readings are sent to.
    struct Influx: Hashable, Sendable {
        /// Nil for none.
        var target: InfluxTarget?
        /// What the points are called.
        var measurement = "meter"
        /// How often what is new is sent.
        var interval = SendMachine.Settings().interval
        /// How old a reading may be that was not sent yet.
        var backFill = SendMachine.Settings().backFill
    }

    struct Port: Hashable, Sendable {
        var declared: DeclaredPort
        /// Whether to connect at the start; a later `disconnect` or `connect` is remembered and takes precedence.
        var connects: Bool
    }

    /// The defaults for the user that runs this: the system's folders for root, the person's own for anybody else.
    ///
    /// - Parameter environment: an empty variable counts as not set, here and in `apply`. Folders that a service
    ///   manager made for this program take precedence.
    init(environment: [String: String], userID: UInt32) {
        let environment = environment.filter { !$0.value.isEmpty }
        if userID == 0 {
            stateDirectory = "/var/lib/meterd"
            socketPath = SocketPath.system
        } else {
            let home = environment["HOME"] ?? "/tmp/meterd-\(userID)"
            let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/.local/state"
            stateDirectory = "\(state)/meterd"
            socketPath = SocketPath.user(runtimeDirectory: environment["XDG_RUNTIME_DIR"], userID: userID)
        }
        if let folder = ServiceManager.folder("STATE_DIRECTORY", in: environment) { stateDirectory = folder }
        if let folder = ServiceManager.folder("RUNTIME_DIRECTORY", in: environment) {
            socketPath = "\(folder)/control.sock"
            bluetooth.requestFolder = folder
        }
    }

    /// Overrides the file's values by those in the environment.
    mutating func apply(environment: [String: String]) throws(ConfigurationError) {
        let environment = environment.filter { !$0.value.isEmpty }
        if let path = environment["METERD_STATE_DIRECTORY"] { stateDirectory = path }
        if let path = environment["METERD_SOCKET"] { socketPath = path }
        if let name = environment["METERD_HOST_NAME"] { hostName = try Self.hostName(name) }
        if let listen = environment["METERD_WEB_LISTEN"] {
            web.listen = try Self.webListen(listen, named: "METERD_WEB_LISTEN")
        }
        if let level = environment["METERD_LOG_LEVEL"] {
            logLevel = try Self.level(level, named: "METERD_LOG_LEVEL")
        }
    }

    static func level(_ text: String, named key: String) throws(ConfigurationError) -> Logger.Level {
        guard let level = Logger.Level(rawValue: text.lowercased()) else {
            let legal = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError("\(key) cannot be \"\(text)\"", next: "it takes \(legal)")
        }
        return level
    }

    /// - Throws: for an address that other machines can reach, which would require a login first.
    static func webListen(_ text: String, named key: String) throws(ConfigurationError) -> Cloud.Listen {
        let listen = try Cloud.Listen(text, named: key, example: "127.0.0.1:8642")
        guard IPAddress.isLoopback(listen.host) else {
            throw ConfigurationError(
                "\(key) cannot be \"\(text)\", which the network reaches",
                next: "meterctl web enable opens the page to the network, with a login")
        }
        return listen
    }

    /// - Throws: if others could not read it: empty, too long, or with unprintable characters.
    static func hostName(_ text: String) throws(ConfigurationError) -> String {
        guard (1...64).contains(text.count), !text.contains(where: \.isControl) else {
            throw ConfigurationError("host-name cannot be \"\(text)\"", next: "it takes a text of 1 to 64 characters")
        }
        return text
    }

    /// The limits for the recorder.
    var recorderLimits: SampleRecorder.Limits {
        var limits = SampleRecorder.Limits()
        limits.flushInterval = flushInterval
        limits.retention.single = .seconds(86_400 * rawDays)
        limits.retention.seconds = .seconds(86_400 * keepDays)
        limits.retention.minutes = .seconds(86_400 * minuteDays)
        limits.maxBytes = Int64(maxMegabytes) << 20
        return limits
    }
}

extension Configuration.Cloud.Listen {
    /// Reads `address:port`, `[address]:port` or a port alone.
    init(_ text: String, named key: String, example: String = "0.0.0.0:8643") throws(ConfigurationError) {
        guard let (host, port) = IPAddress.hostAndPort(text) else {
            throw ConfigurationError("\(key) cannot be \"\(text)\"", next: "it takes address:port, as \(example)")
        }
        self.init(host: host, port: port)
    }
}

/// An error in the configuration, and what to do.
struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    var message: String
    var next: String

    init(_ message: String, next: String) {
        self.message = message
        self.next = next
    }

    var description: String { "\(message)\n\(next)" }
}
