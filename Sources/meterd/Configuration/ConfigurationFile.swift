import Domain
import ESPHomeCore
import MeterCodec
import Notifications
import TOMLKit

/// Reads meterd.toml, whose keys are in `ConfigurationKeys`.
struct ConfigurationFile {
    private let path: String
    private let values: [String: DescriptionValue]
    private static let tables = [
        "cloud", "relay", "sync", "bluetooth", "discovery", "web", "mqtt", "influx", "notify", "store", "backup",
        "model", "port", "esphome", "meter",
    ]

    /// - Parameter path: used only in messages.
    init(text: String, path: String) throws(ConfigurationError) {
        self.path = path
        do {
            values = DescriptionValue.members(of: try TOMLTable(string: text))
        } catch let error as TOMLParseError {
            throw ConfigurationError(
                "\(path): \(error.description) at \(error.source.begin.debugDescription)",
                next: "correct the line; meterd does not start with half a configuration")
        } catch {
            throw ConfigurationError("\(path): \(error)", next: "correct the file")
        }
    }

    func apply(to configuration: inout Configuration) throws(ConfigurationError) {
        do {
            try read(into: &configuration)
        } catch {
            throw ConfigurationError("\(path): \(error.message)", next: error.next)
        }
    }

    private func read(into configuration: inout Configuration) throws(ConfigurationError) {
        let keys = ConfigurationKeys.self
        try keys.general.read(values, prefix: "", tables: Self.tables, into: &configuration)
        try read("cloud", keys.cloud, into: &configuration.cloud)
        try read("relay", keys.relay, into: &configuration.relay)
        if try read("sync", keys.sync, into: &configuration.sync) { try keys.check(configuration.sync) }
        try read("bluetooth", keys.bluetooth, tables: ["proxy"], into: &configuration.bluetooth)
        for table in try tables(of: "bluetooth.proxy", max: keys.proxiesMax) {
            var node = keys.proxy.defaults
            try keys.proxy.read(table, prefix: "bluetooth.proxy.", into: &node)
            let proxy = try node.checked()
            guard !configuration.bluetooth.proxies.contains(where: { $0.display == proxy.display }) else {
                throw ConfigurationError(
                    "two [[bluetooth.proxy]] have the host \(proxy.display.visible)", next: "take one of them away")
            }
            configuration.bluetooth.proxies.append(proxy)
        }
        try read("discovery", keys.discovery, into: &configuration.discovery)
        if try read("web", keys.web, into: &configuration.web) { try keys.check(configuration.web) }
        if try read("mqtt", keys.mqtt, tables: ["meter"], into: &configuration.mqtt) {
            try keys.check(configuration.mqtt)
        }
        if try read("influx", keys.influx, into: &configuration.influx) { try keys.check(configuration.influx) }
        for (name, table) in try named("notify", max: 32) {
            configuration.notify.append(try NotificationTarget(name: name, table))
        }
        try read("store", keys.store, into: &configuration)
        try read("backup", keys.backup, into: &configuration.backup)
        for (name, table) in try named("model", max: 64) {
            do throws(DescriptionError) {
                configuration.catalogue = try configuration.catalogue.adding(model: name, described: table)
            } catch {
                let key = error.key.isEmpty ? "[model.\(name.visible)]" : "model.\(name.visible).\(error.key)"
                throw ConfigurationError("\(key) \(error.problem)", next: error.remedy)
            }
        }
        for table in try ports() {
            configuration.ports.append(try Configuration.Port(table, among: configuration.catalogue))
        }
        if let esphome = entry("esphome") {
            let members = try esphome.table("tables, [[\(keys.board.name)]]")
            for name in members.keys.sorted() where name != "meter" {
                throw ConfigurationError(
                    "unknown key \"esphome.\(name.visible)\"", next: "there is [[\(keys.board.name)]]")
            }
        }
        for table in try tables(of: "esphome.meter", max: keys.proxiesMax) { try configuration.add(board: table) }
        for table in try tables(of: "mqtt.meter", max: keys.smartPlugsMax) {
            try configuration.add(smartPlug: table)
        }
        let computed = try named("meter", max: 32, beside: ["max-voltage"])
        var voltageMax: Int?
        try read("meter", keys.meter, tables: computed.map(\.name), into: &voltageMax)
        if let voltageMax { configuration.catalogue = configuration.catalogue.supplying(upTo: voltageMax) }
        for (name, table) in computed { try configuration.add(computed: name, table) }
        try configuration.checkFormulas()
    }

    private func entry(_ name: String) -> ConfigurationEntry? {
        values[name].map { ConfigurationEntry(key: name, value: $0) }
    }

    /// Returns whether the file has the table. Makes `keys` only then: key paths cost time at each start.
    @discardableResult
    private func read<Target>(
        _ name: String, _ keys: @autoclosure () -> ConfigurationTable<Target>, tables: [String] = [],
        into target: inout Target
    ) throws(ConfigurationError) -> Bool {
        guard let entry = entry(name) else { return false }
        let keys = keys()
        try keys.read(entry.table("a table, [\(keys.name)]"), prefix: "\(keys.name).", tables: tables, into: &target)
        return true
    }

    /// Returns the tables `[key.NAME]`, sorted by name.
    ///
    /// - Parameter keys: plain keys that stand beside the tables.
    private func named(
        _ key: String, max: Int, beside keys: [String] = []
    ) throws(ConfigurationError) -> [(name: String, table: [String: DescriptionValue])] {
        guard let members = try entry(key)?.table("tables, [\(key).NAME]") else { return [] }
        let tables = members.filter { !keys.contains($0.key) }
        guard tables.count <= max else {
            throw ConfigurationError("there are \(tables.count) [\(key).…]", next: "at most \(max) are read")
        }
        var result: [(name: String, table: [String: DescriptionValue])] = []
        for (name, value) in tables.sorted(by: { $0.key < $1.key }) {
            let entry = ConfigurationEntry(key: "\(key).\(name.visible)", value: value)
            result.append((name, try entry.table("a table, [\(entry.key)]")))
        }
        return result
    }

    private func ports() throws(ConfigurationError) -> [[String: DescriptionValue]] {
        try entry("port").map { entry throws(ConfigurationError) in try entry.tables("[[port]]") } ?? []
    }

    /// - Parameter key: name of the outer table and of the array, such as "bluetooth.proxy".
    private func tables(of key: String, max: Int) throws(ConfigurationError) -> [[String: DescriptionValue]] {
        let names = key.split(separator: ".").map(String.init)
        guard case .table(let members) = values[names[0]], let value = members[names[1]] else { return [] }
        let tables = try ConfigurationEntry(key: key, value: value).tables("[[\(key)]]")
        guard tables.count <= max else {
            throw ConfigurationError("there are \(tables.count) [[\(key)]]", next: "at most \(max) are used")
        }
        return tables
    }
}

extension DescriptionValue {
    fileprivate static func members(of table: TOMLTable) -> [String: DescriptionValue] {
        table.keys.reduce(into: [:]) { members, key in
            if let value = table[key] { members[key] = DescriptionValue(value) }
        }
    }

    private init(_ value: any TOMLValueConvertible) {
        if let text = value.string {
            self = .text(text)
        } else if let flag = value.bool {
            self = .flag(flag)
        } else if let number = value.int {
            self = .integer(number)
        } else if let number = value.double {
            self = .number(number)
        } else if let list = value.array {
            self = .list(list.indices.map { DescriptionValue(list[$0]) })
        } else if let table = value.table {
            self = .table(Self.members(of: table))
        } else {
            self = .other(value.debugDescription)
        }
    }
}
