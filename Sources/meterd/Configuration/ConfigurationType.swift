import Domain
import MeterCodec

/// A value from meterd.toml, an environment variable or a command-line flag.
struct ConfigurationEntry {
    /// Name for messages: the key with its table, the variable or the flag.
    let key: String
    let value: DescriptionValue

    func text() throws(ConfigurationError) -> String {
        guard case .text(let text) = value else { throw wrongType("a text in quotes") }
        return text
    }

    func table(_ takes: String) throws(ConfigurationError) -> [String: DescriptionValue] {
        guard case .table(let members) = value else { throw wrongType(takes) }
        return members
    }

    /// - Parameter heading: heading of each table, such as `[[port]]`.
    func tables(_ heading: String) throws(ConfigurationError) -> [[String: DescriptionValue]] {
        let takes = "an array of tables, \(heading)"
        guard case .list(let values) = value else { throw wrongType(takes) }
        var result: [[String: DescriptionValue]] = []
        for value in values { result.append(try ConfigurationEntry(key: key, value: value).table(takes)) }
        return result
    }

    func wrongType(_ takes: String) -> ConfigurationError {
        ConfigurationError("\(key) has the wrong type", next: "it takes \(takes)")
    }

    func illegal(_ shown: String, takes: String) -> ConfigurationError {
        ConfigurationError("\(key) cannot be \(shown)", next: "it takes \(takes)")
    }
}

/// Type of a key of meterd.toml: its parser, its TOML form and its legal range.
struct ConfigurationType<Value>: Sendable {
    /// Legal range as shown in the configuration reference, such as "1s to 1h".
    var range = ""
    let read: @Sendable (ConfigurationEntry) throws(ConfigurationError) -> Value
    var write: @Sendable (Value) -> String = { "\"\($0)\"" }
}

extension ConfigurationType {
    /// - Parameter takes: description of legal texts, for the error message.
    static func parsed(
        _ takes: String, range: String = "", write: @escaping @Sendable (Value) -> String = { "\($0)" },
        _ parse: @escaping @Sendable (String) -> Value?
    ) -> Self {
        Self(
            range: range,
            read: { entry throws(ConfigurationError) in
                let text = try entry.text()
                guard let value = parse(text) else { throw entry.illegal("\"\(text.visible)\"", takes: takes) }
                return value
            },
            write: { "\"\(write($0))\"" })
    }

    /// A text that may contain a secret, so error messages do not repeat it.
    static func secret(_ what: String, takes: String, _ parse: @escaping @Sendable (String) -> Value?) -> Self {
        Self(read: { entry throws(ConfigurationError) in
            guard let value = parse(try entry.text()) else {
                throw ConfigurationError("\(entry.key) is not \(what)", next: "it takes \(takes)")
            }
            return value
        })
    }

    static func list<Item>(
        of items: String, each item: String, next: String, _ parse: @escaping @Sendable (String) -> Item?
    ) -> Self where Value == [Item] {
        Self(read: { entry throws(ConfigurationError) in
            guard case .list(let values) = entry.value else { throw entry.wrongType("a list of \(items)") }
            var result: [Item] = []
            for value in values {
                guard case .text(let text) = value, let parsed = parse(text) else {
                    throw ConfigurationError("\(value.shown) in \(entry.key) is not \(item)", next: next)
                }
                result.append(parsed)
            }
            return result
        })
    }
}

extension ConfigurationType<Bool> {
    static var flag: Self {
        Self(
            read: { entry throws(ConfigurationError) in
                guard case .flag(let flag) = entry.value else { throw entry.wrongType("true or false") }
                return flag
            },
            write: { "\($0)" })
    }
}

extension ConfigurationType<Int> {
    static func integer(_ legal: ClosedRange<Int>) -> Self {
        let range = "\(legal.lowerBound) to \(legal.upperBound)"
        let takes = "a whole number from \(range)"
        return Self(
            range: range,
            read: { entry throws(ConfigurationError) in
                guard case .integer(let number) = entry.value else { throw entry.wrongType(takes) }
                guard legal.contains(number) else { throw entry.illegal("\(number)", takes: takes) }
                return number
            },
            write: { "\($0)" })
    }
}

extension ConfigurationType<Duration> {
    static func time(_ legal: ClosedRange<Duration>) -> Self {
        let range = "\(legal.lowerBound.shortText) to \(legal.upperBound.shortText)"
        return .parsed("a time from \(range)", range: range, write: \.shortText) { text in
            Duration(shortText: text).flatMap { legal.contains($0) ? $0 : nil }
        }
    }
}

extension ConfigurationType<String> {
    static func text(_ takes: String, where isLegal: @escaping @Sendable (String) -> Bool) -> Self {
        .parsed(takes) { isLegal($0) ? $0 : nil }
    }

    static var text: Self { .text("a text") { _ in true } }

    /// Absolute path of a file. A relative path would depend on meterd's working directory.
    static var file: Self { .text("a path that begins with /") { $0.hasPrefix("/") } }
}

extension ConfigurationType where Value: CaseIterable & RawRepresentable<String> & SendableMetatype {
    /// One of a few words, in upper or lower case.
    static var choice: Self {
        .parsed(quoted, range: either(Value.allCases.map(\.rawValue)), write: \.rawValue) {
            Value(rawValue: $0.lowercased())
        }
    }

    static var quoted: String { either(Value.allCases.map { "\"\($0.rawValue)\"" }) }

    private static func either(_ words: [String]) -> String {
        "\(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")"
    }
}
