import Domain
import MeterCodec

struct ConfigurationKey<Target>: Sendable {
    let name: String
    /// Environment variable and command-line flag that override the key.
    let overrides: [String]
    /// Purpose of the key, in which `{range}` stands for the legal values.
    private let purpose: String
    private let range: String
    let read: @Sendable (ConfigurationEntry, inout Target) throws(ConfigurationError) -> Void
    /// Returns the example or else the default, in TOML; nil for a key without its own line in the configuration
    /// reference.
    let shown: @Sendable (_ defaults: Target) -> String?

    var explanation: String { purpose.replacing("{range}", with: range) }

    /// - Parameters:
    ///   - example: TOML shown instead of the default.
    ///   - explanation: purpose of the key; `{range}` stands for the legal values.
    init<Value>(
        _ name: String, _ field: any WritableKeyPath<Target, Value> & Sendable, _ type: ConfigurationType<Value>,
        example: String? = nil, overrides: [String] = [], _ explanation: String = ""
    ) {
        self.name = name
        self.overrides = overrides
        (purpose, range) = (explanation, type.range)
        read = { entry, target throws(ConfigurationError) in target[keyPath: field] = try type.read(entry) }
        shown = { example ?? type.write($0[keyPath: field]) }
    }

    init<Value>(
        _ name: String, optional field: any WritableKeyPath<Target, Value?> & Sendable,
        _ type: ConfigurationType<Value>, example: String? = nil, overrides: [String] = [], _ explanation: String = ""
    ) {
        self.name = name
        self.overrides = overrides
        (purpose, range) = (explanation, type.range)
        read = { entry, target throws(ConfigurationError) in target[keyPath: field] = try type.read(entry) }
        shown = { _ in example }
    }
}

struct ConfigurationTable<Target: Sendable>: Sendable {
    /// Name of the table; empty for the keys before all tables.
    let name: String
    let keys: [ConfigurationKey<Target>]
    private let heading: String
    private let explanation: String
    let defaults: Target

    /// - Parameter heading: heading in the configuration reference; nil for `[name]`.
    init(
        _ name: String, heading: String? = nil, _ explanation: String = "", defaults: Target,
        keys: [ConfigurationKey<Target>]
    ) {
        self.name = name
        self.keys = keys
        self.heading = name.isEmpty ? "" : heading ?? "[\(name)]"
        self.explanation = explanation
        self.defaults = defaults
    }

    /// Block of the configuration reference, computed on demand because meterd does not need it to start.
    var block: ConfigurationReference.Block {
        ConfigurationReference.Block(
            heading: heading, explanation: explanation,
            lines: keys.compactMap { key in
                key.shown(defaults).map {
                    .init(key: key.name, value: $0, otherWays: key.overrides, explanation: key.explanation)
                }
            })
    }

    /// - Parameters:
    ///   - prefix: prefix of the keys in messages.
    ///   - tables: names of tables that are allowed among the keys.
    func read(
        _ values: [String: DescriptionValue], prefix: String, tables: [String] = [], into target: inout Target
    ) throws(ConfigurationError) {
        let known = keys.map(\.name) + tables
        for name in values.keys.sorted() where !known.contains(name) {
            throw ConfigurationError(
                "unknown key \"\(prefix)\(name.visible)\"",
                next: known.nearest(to: name).map { "did you mean \"\(prefix)\($0)\"?" }
                    ?? "the keys are \(known.joined(separator: ", "))")
        }
        for key in keys {
            guard let value = values[key.name] else { continue }
            try key.read(ConfigurationEntry(key: prefix + key.name, value: value), &target)
        }
    }

    func read(overrides: [String: String], into target: inout Target) throws(ConfigurationError) {
        for key in keys {
            for name in key.overrides {
                guard let text = overrides[name] else { continue }
                try key.read(ConfigurationEntry(key: name, value: .text(text)), &target)
            }
        }
    }
}
