import BluetoothCore
import GatewayServer
import IOPorts
import LeaseCore
import MeterCodec
import MeterModel
import ServerKit
import TOMLKit

/// Reads meterd.toml, with the keys in `ConfigurationReference`.
struct ConfigurationFile {
    let path: String
    private let table: TOMLTable

    /// - Parameter path: only for the messages.
    init(text: String, path: String) throws(ConfigurationError) {
        self.path = path
        do {
            table = try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            throw ConfigurationError(
                "\(path): \(error.description) at \(error.source.begin.debugDescription)",
                next: "correct the line; meterd does not start with half a configuration")
        } catch {
            throw ConfigurationError("\(path): \(error)", next: "correct the file")
        }
    }

    func apply(to configuration: inout Configuration) throws(ConfigurationError) {
        try checkKeys(of: table, in: "")
        if let path = try string("state-directory", in: table) { configuration.stateDirectory = path }
        if let path = try string("socket", in: table) { configuration.socketPath = path }
        if let level = try string("log-level", in: table) {
            configuration.logLevel = try Configuration.level(level, named: "log-level")
        }
        if let name = try string("host-name", in: table) { configuration.hostName = try Configuration.hostName(name) }
        if let value = table["cloud"] {
            guard let cloud = value.table else { throw wrongType("cloud", "a table, [cloud]") }
            try applyCloud(cloud, to: &configuration)
        }
        if let value = table["relay"] {
            guard let relay = value.table else { throw wrongType("relay", "a table, [relay]") }
            try checkKeys(of: relay, in: "relay")
            if let share = try flag("share", in: relay, "relay.") { configuration.relay.shares = share }
            if let takes = try flag("commands", in: relay, "relay.") { configuration.relay.takesCommands = takes }
        }
        if let value = table["sync"] {
            guard let sync = value.table else { throw wrongType("sync", "a table, [sync]") }
            try applySync(sync, to: &configuration.sync)
        }
        if let value = table["bluetooth"] {
            guard let bluetooth = value.table else { throw wrongType("bluetooth", "a table, [bluetooth]") }
            try applyBluetooth(bluetooth, to: &configuration)
        }
        if let value = table["web"] {
            guard let web = value.table else { throw wrongType("web", "a table, [web]") }
            try applyWeb(web, to: &configuration)
        }
        if let value = table["mqtt"] {
            guard let mqtt = value.table else { throw wrongType("mqtt", "a table, [mqtt]") }
            try applyMQTT(mqtt, to: &configuration)
        }
        if let value = table["influx"] {
            guard let influx = value.table else { throw wrongType("influx", "a table, [influx]") }
            try applyInflux(influx, to: &configuration)
        }
        if let value = table["notify"] {
            guard let notify = value.table else { throw wrongType("notify", "tables, [notify.NAME]") }
            try applyNotify(notify, to: &configuration)
        }
        if let value = table["store"] {
            guard let store = value.table else { throw wrongType("store", "a table, [store]") }
            try applyStore(store, to: &configuration)
        }
        if let value = table["model"] {
            guard let models = value.table else { throw wrongType("model", "tables, [model.NAME]") }
            try applyModels(models, to: &configuration)
        }
        if let value = table["port"] {
            guard let ports = value.array else { throw wrongType("port", "an array of tables, [[port]]") }
            for index in ports.indices {
                guard let port = ports[index].table else { throw wrongType("port", "an array of tables, [[port]]") }
                configuration.ports.append(try self.port(port, among: configuration.catalogue))
            }
        }
    }

    private func flag(_ key: String, in table: TOMLTable, _ prefix: String) throws(ConfigurationError) -> Bool? {
        guard let value = table[key] else { return nil }
        guard let flag = value.bool else { throw wrongType(prefix + key, "true or false") }
        return flag
    }

    /// A time such as `5s`, if given, from and up to what is legal.
    func time(
        _ key: String, in table: TOMLTable, _ prefix: String, legal: ClosedRange<Duration>
    ) throws(ConfigurationError) -> Duration? {
        guard let text = try string(key, in: table, prefix) else { return nil }
        guard let time = Duration(shortText: text), legal.contains(time) else {
            throw ConfigurationError(
                "\(path): \(prefix)\(key) cannot be \"\(text)\"",
                next: "it takes a time from \(legal.lowerBound.shortText) to \(legal.upperBound.shortText)")
        }
        return time
    }

    /// The path of a file, if given. Relative ones would depend on where meterd was started.
    func file(_ key: String, in table: TOMLTable, _ prefix: String) throws(ConfigurationError) -> String? {
        guard let text = try string(key, in: table, prefix) else { return nil }
        guard text.hasPrefix("/") else {
            throw ConfigurationError(
                "\(path): \(prefix)\(key) cannot be \"\(text)\"", next: "it takes a path that begins with /")
        }
        return text
    }

    private func applyStore(_ store: TOMLTable, to configuration: inout Configuration) throws(ConfigurationError) {
        try checkKeys(of: store, in: "store")
        if let interval = try time("flush-interval", in: store, "store.", legal: .seconds(1)...(.seconds(3600))) {
            configuration.flushInterval = interval
        }
        let days = 1...36_500
        if let raw = try integer("raw-days", in: store, "store.", legal: days) { configuration.rawDays = raw }
        if let keep = try integer("keep-days", in: store, "store.", legal: days) { configuration.keepDays = keep }
        if let minute = try integer("minute-days", in: store, "store.", legal: days) {
            configuration.minuteDays = minute
        }
        if let size = try integer("max-megabytes", in: store, "store.", legal: 16...1_000_000) {
            configuration.maxMegabytes = size
        }
    }

    private func applyCloud(_ cloud: TOMLTable, to configuration: inout Configuration) throws(ConfigurationError) {
        try checkKeys(of: cloud, in: "cloud")
        if let serves = try flag("serve", in: cloud, "cloud.") { configuration.cloud.serves = serves }
        if let text = try string("listen", in: cloud, "cloud.") {
            configuration.cloud.listen = try Configuration.Cloud.Listen(text, named: "\(path): cloud.listen")
        }
        if let text = try string("policy", in: cloud, "cloud.") {
            guard let policy = LeasePolicy(rawValue: text) else {
                throw ConfigurationError(
                    "\(path): cloud.policy cannot be \"\(text)\"", next: "it takes \"keep\" or \"strict\"")
            }
            configuration.cloud.policy = policy
        }
        if let wish = try time("lease-ttl", in: cloud, "cloud.", legal: LeaseTerms.timeToLiveRange) {
            configuration.cloud.timeToLive = wish
        }
        if let value = cloud["proxies"] {
            guard let texts = value.array else { throw wrongType("cloud.proxies", "a list of addresses") }
            configuration.cloud.proxies = []
            for index in texts.indices {
                guard let text = texts[index].string, IPAddress.bytes(of: text) != nil else {
                    throw ConfigurationError(
                        "\(path): \(texts[index].debugDescription) in cloud.proxies is not an address",
                        next: "it takes addresses without port, as \"192.168.1.2\"")
                }
                configuration.cloud.proxies.append(text)
            }
        }
        let connections = try integer("connections-per-address", in: cloud, "cloud.", legal: 1...4096)
        if let connections { configuration.cloud.connectionsPerAddress = connections }
    }

    private func applyBluetooth(
        _ bluetooth: TOMLTable, to configuration: inout Configuration
    ) throws(ConfigurationError) {
        try checkKeys(of: bluetooth, in: "bluetooth")
        if let isUsed = try flag("use", in: bluetooth, "bluetooth.") { configuration.bluetooth.isUsed = isUsed }
        if let value = bluetooth["adapters"] {
            guard let texts = value.array else { throw wrongType("bluetooth.adapters", "a list of addresses") }
            configuration.bluetooth.adapters = []
            for index in texts.indices {
                let text = texts[index].string ?? "\(texts[index].debugDescription)"
                guard let address = MACAddress(text) else {
                    throw ConfigurationError(
                        "\(path): \"\(text)\" is not an address of an adapter",
                        next: "meterctl status shows them; hci0 and the like change from boot to boot")
                }
                configuration.bluetooth.adapters.insert(address)
            }
        }
        if let links = try integer("links", in: bluetooth, "bluetooth.", legal: 1...64) {
            configuration.bluetooth.linksMax = links
        }
        if let text = try string("scan", in: bluetooth, "bluetooth.") {
            guard let mode = SearchMode(rawValue: text) else {
                throw ConfigurationError(
                    "\(path): bluetooth.scan cannot be \"\(text)\"",
                    next: "it takes \"always\", \"gentle\" or \"on-demand\"")
            }
            configuration.bluetooth.search = mode
        }
    }

    private func applyWeb(_ web: TOMLTable, to configuration: inout Configuration) throws(ConfigurationError) {
        try checkKeys(of: web, in: "web")
        if let serves = try flag("serve", in: web, "web.") { configuration.web.serves = serves }
        if let text = try string("listen", in: web, "web.") {
            configuration.web.listen = try Configuration.webListen(text, named: "\(path): web.listen")
        }
        if let value = web["names"] {
            guard let texts = value.array else { throw wrongType("web.names", "a list of names") }
            configuration.web.names = []
            for index in texts.indices {
                guard let name = texts[index].string, WebNames.isName(name) else {
                    throw ConfigurationError(
                        "\(path): \(texts[index].debugDescription) in web.names is not a name of a host",
                        next: "it takes names without port, as \"meters.example.org\"")
                }
                configuration.web.names.append(name)
            }
        }
    }

    private func port(
        _ port: TOMLTable, among catalogue: MeterCatalogue
    ) throws(ConfigurationError) -> Configuration.Port {
        try checkKeys(of: port, in: "port")
        let serialPath = try string("path", in: port, "port.")
        let rawPath = try string("hidraw", in: port, "port.")
        if let serialPath, let rawPath {
            throw ConfigurationError(
                "\(path): a [[port]] has both path = \"\(serialPath)\" and hidraw = \"\(rawPath)\"",
                next: "keep path for a serial port, hidraw for a raw HID device; two meters are two [[port]]")
        }
        guard let devicePath = serialPath ?? rawPath, devicePath.hasPrefix("/") else {
            throw ConfigurationError(
                "\(path): a [[port]] has no path",
                next: "give it the device, for example path = \"/dev/rfcomm0\" or hidraw = \"/dev/hidraw3\"")
        }
        guard let modelText = try string("model", in: port, "port."),
            let model = catalogue.model(named: modelText)
        else {
            throw ConfigurationError(
                "\(path): the [[port]] \(devicePath) names no model that is known",
                next: "the models are \(catalogue.models.map(\.rawValue).joined(separator: ", "))")
        }
        var id: MeterID?
        if let text = try string("id", in: port, "port.") {
            guard let parsed = MeterID(text) else {
                throw ConfigurationError(
                    "\(path): \"\(text)\" is not a meter id", next: "give a MAC address or a usb:… id")
            }
            id = parsed
        }
        let name = try string("name", in: port, "port.")
        let connects = try flag("connect", in: port, "port.") ?? true
        return Configuration.Port(
            declared: DeclaredPort(path: devicePath, isRawHID: rawPath != nil, model: model, id: id, name: name),
            connects: connects)
    }

    /// - Parameter name: the table's; empty for the outermost.
    func checkKeys(of table: TOMLTable, in name: String) throws(ConfigurationError) {
        let known = ConfigurationReference.names(in: name)
        let prefix = name.isEmpty ? "" : "\(name)."
        for key in table.keys.sorted() where !known.contains(key) {
            // Somebody who wrote half of a key means that one, however many letters are missing.
            let begun = known.filter { $0.hasPrefix(key) }
            let nearest =
                (begun.isEmpty ? known : begun).min { $0.editDistance(to: key) < $1.editDistance(to: key) } ?? ""
            throw ConfigurationError(
                "\(path): unknown key \"\(prefix)\(key)\"", next: "did you mean \"\(prefix)\(nearest)\"?")
        }
    }

    /// - Parameter prefix: what precedes the key in messages.
    func string(
        _ key: String, in table: TOMLTable, _ prefix: String = ""
    ) throws(ConfigurationError) -> String? {
        guard let value = table[key] else { return nil }
        guard let text = value.string else { throw wrongType(prefix + key, "a text in quotes") }
        return text
    }

    func integer(
        _ key: String, in table: TOMLTable, _ prefix: String, legal: ClosedRange<Int>
    ) throws(ConfigurationError) -> Int? {
        guard let value = table[key] else { return nil }
        let expected = "a whole number from \(legal.lowerBound) to \(legal.upperBound)"
        guard let number = value.int else { throw wrongType(prefix + key, expected) }
        guard legal.contains(number) else {
            throw ConfigurationError("\(path): \(prefix)\(key) cannot be \(number)", next: "it takes \(expected)")
        }
        return number
    }

    func wrongType(_ key: String, _ expected: String) -> ConfigurationError {
        ConfigurationError("\(path): \(key) has the wrong type", next: "it takes \(expected)")
    }
}
