import BluetoothCore
import Domain
import ESPHomeCore
import Gateway
import GatewayAPI
import HomeAutomation
import LinuxIO
import Logging
import MeterCodec
import Notifications
import ProxyTransport
import ServerKit

/// All settings, with defaults that work without a file. See `ConfigurationKeys` for their meaning.
struct Configuration: Hashable, Sendable {
    var stateDirectory: String
    var socketPath: String
    var logLevel: Logger.Level = .info
    var flushInterval: Duration = .seconds(60)
    var rawDays = 30
    var keepDays = 400
    var minuteDays = 1830
    var maxMegabytes = 2048
    /// Name of this host; nil for the system's host name.
    var hostName: String?
    var cloud = Cloud()
    var relay = Relay()
    var sync = SyncTiming()
    var bluetooth = Bluetooth()
    var discovery = Discovery()
    var web = Web()
    var mqtt = MQTT()
    var influx = Influx()
    var backup = BackupSettings()
    /// Destinations of notifications, sorted by name.
    var notify: [NotificationTarget] = []
    var catalogue = MeterCatalogue.standard
    var ports: [Port] = []
    /// ESPHome nodes that are meters. The meters are also among `ports`.
    var boards: [NodeMeterSettings] = []
    /// Meters behind the broker of `mqtt`. They are among `ports`.
    var smartPlugs: [SmartPlugDescription] = []
    /// Formulas of computed meters by name. The meters are among `ports`.
    var formulas: [String: Formula] = [:]

    /// Section `[cloud]` of meterd.toml. `meterctl cloud join` chooses which cloud.
    struct Cloud: Hashable, Sendable {
        var serves = false
        var listen = Listen(host: "0.0.0.0", port: 8643)
        var policy = LeasePolicy.keep
        var timeToLive = LeaseTerms.standard.timeToLive
        var proxies: [String] = []
        var connectionsPerAddress = 64

        struct Listen: Hashable, Sendable, CustomStringConvertible {
            var host: String
            var port: Int

            var description: String { IPAddress.authority(host, port) }
        }
    }

    /// Settings of other hosts' access to this host's meters.
    struct Relay: Hashable, Sendable {
        var shares = true
        var takesCommands = true
    }

    struct Bluetooth: Hashable, Sendable {
        var isUsed = true
        /// Addresses of the adapters to use; empty for all adapters.
        var adapters: [MACAddress] = []
        var linksMax = 5
        /// Folder for requests to the helper that runs as root; nil without a service manager. Not in meterd.toml.
        var requestFolder: String?
        var search = SearchMode.gentle
        var proxies: [NodeSettings] = []
    }

    struct Discovery: Hashable, Sendable {
        var browses = true
        var announces = true
    }

    /// Settings of the web page, which `meterctl web enable` opens to the network.
    struct Web: Hashable, Sendable {
        var serves = true
        var listen = Cloud.Listen(host: "127.0.0.1", port: 8642)
        var names: [String] = []
        var proxies: [IPNetwork] = []
        /// Address for requests by Home Assistant's Supervisor; nil for none.
        var ingress: Cloud.Listen?
        /// Whether users of the Supervisor's page may make changes.
        var ingressChanges = false
        /// Whether users may create URLs for the Firefox Profiler.
        var profiler = false
        var tls = TLS.off
        /// Path of the TLS certificate. Set it together with `keyPath`; without them, meterd makes its own certificate.
        var certificatePath: String?
        var keyPath: String?

        enum TLS: String, Hashable, CaseIterable, Sendable {
            case off
            case selfSigned = "self-signed"
        }
    }

    struct MQTT: Hashable, Sendable {
        /// Nil if no MQTT broker is used.
        var address: BrokerAddress?
        var credentialsPath: String?
        /// Whether the password may be sent without TLS to a broker on another machine.
        var sendsPlainText = false
        /// Certificates of the trusted authorities; nil for those that the system trusts.
        var certificatePath: String?
        var discoveryPrefix = "homeassistant"
        var baseTopic = "metergateway"
        var interval = Duration.seconds(5)
    }

    struct Influx: Hashable, Sendable {
        var address: NotificationAddress?
        /// Bucket of InfluxDB 2. If `address` is set, either `bucket` or `database` is set.
        var bucket: String?
        var org: String?
        var database: String?
        var user: String?
        var tokenPath: String?
        var limit = NotificationTarget.limitDefault
        var measurement = "meter"
        var interval = SendMachine.Settings().interval
        var backFill = SendMachine.Settings().backFill

        var target: InfluxTarget? {
            guard let address,
                let place = bucket.map({ .bucket($0, org: org) }) ?? database.map(InfluxTarget.Place.database)
            else { return nil }
            var target = InfluxTarget(address: address, place: place)
            (target.user, target.tokenPath, target.limit) = (user, tokenPath, limit)
            return target
        }
    }

    struct Port: Hashable, Sendable {
        var declared: DeclaredPort
        /// Whether to connect when meterd starts. A stored `connect` or `disconnect` command takes precedence.
        var connects: Bool
    }

    /// Creates the defaults: the system's folders for root, the user's own folders for other users.
    ///
    /// - Parameter environment: empty variables count as not set. A service manager's folders take precedence.
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

    mutating func apply(environment: [String: String]) throws(ConfigurationError) {
        try apply(overrides: environment.filter { !$0.value.isEmpty })
    }

    mutating func apply(overrides: [String: String]) throws(ConfigurationError) {
        try ConfigurationKeys.general.read(overrides: overrides, into: &self)
        try ConfigurationKeys.web.read(overrides: overrides, into: &web)
    }

    var storePath: String { "\(stateDirectory)/meterd.sqlite" }

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

struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    var message: String
    var next: String

    init(_ message: String, next: String) {
        self.message = message
        self.next = next
    }

    var description: String { "\(message)\n\(next)" }
}
