import MeterModel
import Notifications
import TOMLKit

extension ConfigurationFile {
    /// Most `[notify.NAME]`.
    private static let targetsMax = 32
    private static let limits = Duration.seconds(1)...Duration.seconds(300)
    private static let kinds = ["webhook", "ntfy", "gotify", "exec"]
    /// Those of them that have an address.
    private static let ways: [String: @Sendable (NotificationAddress) -> NotificationTarget.Way] = [
        "webhook": { .webhook($0) }, "ntfy": { .ntfy($0) }, "gotify": { .gotify($0) },
    ]

    /// Reads every `[notify.NAME]`.
    func applyNotify(_ notify: TOMLTable, to configuration: inout Configuration) throws(ConfigurationError) {
        let names = notify.keys.sorted()
        guard names.count <= Self.targetsMax else {
            throw ConfigurationError(
                "\(path): there are \(names.count) [notify.…]", next: "at most \(Self.targetsMax) are read")
        }
        configuration.notify = []
        for name in names {
            guard (1...32).contains(name.utf8.count), name.utf8.allSatisfy(\.isOfTargetName) else {
                throw ConfigurationError(
                    "\(path): [notify.\(name.visible)] cannot be called that",
                    next: "a name has 1 to 32 letters, digits, \"-\" and \"_\"")
            }
            guard let table = notify[name]?.table else {
                throw wrongType("notify.\(name)", "a table, [notify.\(name)]")
            }
            configuration.notify.append(try target(name, table))
        }
    }

    private func target(_ name: String, _ table: TOMLTable) throws(ConfigurationError) -> NotificationTarget {
        try checkKeys(of: table, in: "notify")
        let prefix = "notify.\(name)."
        guard let kind = try string("kind", in: table, prefix) else {
            throw ConfigurationError(
                "\(path): [notify.\(name)] has no kind", next: "it takes \(Self.kinds.joined(separator: ", "))")
        }
        let limit = try time("timeout", in: table, prefix, legal: Self.limits) ?? NotificationTarget.limitDefault
        let url = try string("url", in: table, prefix)
        let command = try command(in: table, prefix)
        let tokenPath = try file("token-file", in: table, prefix)
        guard kind == "exec" else {
            guard command == nil else { throw misplaced("command", kind, prefix) }
            var target = NotificationTarget(
                name: name, way: try way(kind, to: url, prefix), limit: limit)
            target.tokenPath = tokenPath
            return target
        }
        guard url == nil else { throw misplaced("url", kind, prefix) }
        guard tokenPath == nil else { throw misplaced("token-file", kind, prefix) }
        guard let command else {
            throw ConfigurationError(
                "\(path): [notify.\(name)] has no command",
                next: "give it a program and its arguments: command = [\"/usr/local/bin/alert\"]")
        }
        return NotificationTarget(name: name, way: .program(command), limit: limit)
    }

    private func misplaced(_ key: String, _ kind: String, _ prefix: String) -> ConfigurationError {
        ConfigurationError("\(path): \(prefix)\(key) is of no use with kind = \"\(kind)\"", next: "take it away")
    }

    /// An address is not repeated in a message: its path may be a secret.
    private func way(
        _ kind: String, to url: String?, _ prefix: String
    ) throws(ConfigurationError) -> NotificationTarget.Way {
        guard let make = Self.ways[kind] else {
            throw ConfigurationError(
                "\(path): \(prefix)kind cannot be \"\(kind)\"", next: "it takes \(Self.kinds.joined(separator: ", "))")
        }
        guard let url else {
            throw ConfigurationError(
                "\(path): \(prefix)url is missing",
                next: "give it an address, for example url = \"https://ntfy.sh/topic\"")
        }
        guard let address = NotificationAddress(url) else {
            throw ConfigurationError(
                "\(path): \(prefix)url is not an address",
                next: "it takes http:// or https:// with a host, without a user; a token goes into token-file")
        }
        return make(address)
    }

    private func command(in table: TOMLTable, _ prefix: String) throws(ConfigurationError) -> [String]? {
        guard let value = table["command"] else { return nil }
        let expected = "a list of texts: a program's path and its arguments"
        guard let list = value.array else { throw wrongType("\(prefix)command", expected) }
        var words: [String] = []
        for index in list.indices {
            guard let word = list[index].string, !word.contains("\0") else {
                throw wrongType("\(prefix)command", expected)
            }
            words.append(word)
        }
        guard let program = words.first, program.hasPrefix("/") else {
            throw ConfigurationError(
                "\(path): \(prefix)command names no program by its path",
                next: "give it one, for example command = [\"/usr/local/bin/alert\"]; no shell reads it")
        }
        return words
    }
}

extension UInt8 {
    fileprivate var isOfTargetName: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
