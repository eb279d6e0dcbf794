import BluetoothCore
import Gateway
import GatewayAPI
import HomeAutomation
import IOPorts
import LeaseCore
import LinuxIO
import Logging
import MeterModel
import ServerKit
import SyncCore

/// Everything that can be set, with defaults that are good with no file at all (Docs/CommandLine.md#configuration).
struct Configuration: Hashable, Sendable {
    /// Where the store is.
    var stateDirectory: String
    var socketPath: String
    var logLevel: Logger.Level = .info
    /// How long a reading may wait in memory before it is written: what a power cut costs at most.
    var flushInterval: Duration = .seconds(60)
    /// Single readings that came fast are replaced by seconds when they are older than this.
    var rawDays = 30
    /// Single readings and seconds older than this are deleted.
    var keepDays = 400
    /// Minutes older than this are deleted; hours stay.
    var minuteDays = 1830
    /// The store is kept below this size, the oldest readings going first.
    var maxMegabytes = 2048
    /// What other hosts call this one. nil means what the system calls it.
    var hostName: String?
    var cloud = Cloud()
    /// How much the sync engine does at once, and how long it waits.
    var sync = SyncTiming()
    var bluetooth = Bluetooth()
    var web = Web()
    var mqtt = MQTT()
    /// Serial ports that a person says a meter is behind.
    var ports: [Port] = []

    /// How this host shares meters with others. Which cloud it belongs to is no configuration: `meterctl cloud join`.
    struct Cloud: Hashable, Sendable {
        /// This meterd serves the cloud itself: at home no other machine is needed.
        var serves = false
        var listen = Listen(host: "0.0.0.0", port: 8643)
        /// `strict` where this host wants it stricter than its zone.
        var policy = LeasePolicy.keep
        /// A wish; the zone caps it.
        var timeToLive = LeaseTerms.standard.timeToLive

        /// Addresses of proxies, through which many hosts come to the cloud that is served here.
        var proxies: [String] = []
        /// Connections that one address may have open to it. Loopback and proxies have eight times as many.
        var connectionsPerAddress = 64

        /// Where the cloud is served.
        struct Listen: Hashable, Sendable {
            var host: String
            var port: Int
        }
    }

    /// How this host uses its radios.
    struct Bluetooth: Hashable, Sendable {
        /// False: radios are left alone altogether.
        var isUsed = true
        /// Only these are used; empty: all there are.
        var adapters: Set<MACAddress> = []
        /// How many links to meters one adapter is taken to bear at once.
        var linksMax = 5
        /// Where requests to root's helper are put; nil where no service manager runs this. No key of the file.
        var requestFolder: String?
        /// How much of the air the search for meters may take.
        var search = SearchMode.gentle
    }

    /// The web page. Whether the network reaches it is no configuration: `meterctl web enable`.
    struct Web: Hashable, Sendable {
        /// False: there is none.
        var serves = true
        /// Where this machine alone reaches it.
        var listen = Cloud.Listen(host: "127.0.0.1", port: 8642)
        /// What else this host is called, where a browser asks for it by a name that the machine does not know.
        var names: [String] = []
    }

    /// The broker that Home Assistant and others hear of the meters from.
    struct MQTT: Hashable, Sendable {
        /// nil means none.
        var address: BrokerAddress?
        /// The file with user and password; nil means the broker wants none.
        var credentialsPath: String?
        /// The certificates, one of which the broker's must come from; nil means those that the system trusts.
        var certificatePath: String?
        var discoveryPrefix = "homeassistant"
        var baseTopic = "metergateway"
        /// How often a meter's reading is published.
        var interval = Duration.seconds(5)
    }

    struct Port: Hashable, Sendable {
        var declared: DeclaredPort
        /// Wanted from the start; a later `disconnect` or `connect` is remembered and takes precedence.
        var connects: Bool
    }

    /// The defaults for whoever runs this: the system's places for root, the person's own for anybody else.
    ///
    /// - Parameter environment: a variable that is empty counts as not set, here and in `apply`. The
    ///   folders that a service manager made for this program go before those.
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

    /// Puts what the environment says over what the file said.
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

    /// - Throws: for anything that more than this machine reaches, which asks for a login first.
    static func webListen(_ text: String, named key: String) throws(ConfigurationError) -> Cloud.Listen {
        let listen = try Cloud.Listen(text, named: key, example: "127.0.0.1:8642")
        guard IPAddress.isLoopback(listen.host) else {
            throw ConfigurationError(
                "\(key) cannot be \"\(text)\", which the network reaches",
                next: "meterctl web enable opens the page to the network, with a login")
        }
        return listen
    }

    /// - Throws: where others could not read it: nothing in it, too long, or something that does not print.
    static func hostName(_ text: String) throws(ConfigurationError) -> String {
        guard (1...64).contains(text.count), !text.contains(where: \.isControl) else {
            throw ConfigurationError("host-name cannot be \"\(text)\"", next: "it takes a text of 1 to 64 characters")
        }
        return text
    }

    /// The same, as the recorder takes them.
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

/// What is wrong with the configuration, and what to do.
struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    var message: String
    var next: String

    init(_ message: String, next: String) {
        self.message = message
        self.next = next
    }

    var description: String { "\(message)\n\(next)" }
}
