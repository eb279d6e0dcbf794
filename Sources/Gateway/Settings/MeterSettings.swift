package import Domain
import GatewayAPI
package import MeterCodec

/// The settings of a meter, as this version understands them.
package struct MeterSettings: Hashable, Sendable {
    /// A key as people type it and as the store keeps it.
    package enum Key: String, CaseIterable, Sendable {
        case name
        case notes
        case pollInterval = "poll-interval"
        case rate
        case staleAfter = "stale-after"
        case temperatureUnit = "temperature-unit"
        case filter
        case screenTimeout = "screen-timeout"
        case brightness
        case threshold
        case recordAbove = "record-above"
        case recordHold = "record-hold"
        case recordGap = "record-gap"
        case tariff

        /// The legal values, in the words of the error message.
        package var legal: String {
            switch self {
            case .name: "text of 1 to 64 characters that is neither an id nor a path, without blanks at either end"
            case .notes: "text of at most 1000 characters, line ends allowed"
            case .pollInterval: "a time from 10ms to 1h, such as 500ms, 2s or 1m"
            case .rate: "off, or samples a second that the model takes by its own clock, such as 1000"
            case .staleAfter: "a time such as 3s, from 1s to 1h"
            case .temperatureUnit: "C or F, as the meter's own menu is set"
            case .filter: "on or off: whether single values that cannot be are left out"
            case .screenTimeout, .brightness, .threshold: "a whole number from 0 to \(MeterSettings.numberMax)"
            case .recordAbove: "amperes from 0.001 to 100, such as 0.05 or 50mA"
            case .recordHold: "a time from 0s to 1h, such as 10s"
            case .recordGap: "a time from 10s to 24h, such as 10m"
            case .tariff: "the price of a kilowatt-hour with its currency, such as 0.32 EUR"
            }
        }

        /// The command that sends it to the meter; nil for what concerns this program only.
        package var command: MeterCommand.Kind? {
            switch self {
            case .name, .notes, .pollInterval, .rate, .staleAfter, .temperatureUnit, .filter: nil
            case .recordAbove, .recordHold, .recordGap, .tariff: nil
            case .screenTimeout: .screenTimeout
            case .brightness: .brightness
            case .threshold: .recordThreshold
            }
        }
    }

    package var name: String?
    package var notes: String?
    /// Nil for the model's own default.
    package var pollInterval: Duration?
    /// Samples a second that the meter is to take by its own clock; 0 for none. A rate that the model does not know is not
    /// asked for.
    package var rate: Int?
    /// Nil for three poll intervals, at least 3 s.
    package var staleAfter: Duration?
    package var temperatureUnit: TemperatureUnit = .celsius
    /// Whether single values that the meter cannot have measured are left out.
    package var filters = true
    /// Settings of the meter itself: by command, its number, in the model's own unit. A command that the model does not
    /// know, or not with this number, is not sent.
    package var numbers: [MeterCommand.Kind: Int] = [:]
    /// Amperes: a current this large starts a recording by itself. Nil if recordings are only started by hand.
    package var recordAbove: Double?
    /// How long the current must be on the other side of that to count. Nil for the recorder's own default, as below.
    var recordHold: Duration?
    /// A recording that started by itself ends if no reading arrives for longer than this.
    var recordGap: Duration?
    /// What a kilowatt-hour through this meter costs.
    package var tariff: Tariff?

    /// Larger than the number of any model.
    package static let numberMax = 99_999

    package init() {}

    /// Reads stored texts. A text that no longer parses counts as not set; it stays in the store as it is.
    package init(stored texts: [String: String]) {
        for (text, value) in texts {
            guard let key = Key(rawValue: text) else { continue }
            // A value from an older or newer version may not parse here: then the default applies.
            try? apply(key, value)
        }
    }

    /// Takes over one value, or says what is legal.
    package mutating func apply(_ key: Key, _ value: String) throws(GatewayError) {
        switch key {
        case .name where Self.isLegal(name: value): name = value
        case .notes where value.count <= 1000 && !value.contains(where: { $0 != "\n" && $0.isControl }): notes = value
        case .pollInterval:
            // Without a unit a person may mean milliseconds or seconds: this is not guessed.
            pollInterval = try Self.duration(value, key: key, in: .milliseconds(10) ... .seconds(3600))
        case .rate:
            guard let number = value == "off" ? 0 : Self.number(value) else { throw Self.illegal(key, value) }
            rate = number
        case .staleAfter: staleAfter = try Self.duration(value, key: key, in: .seconds(1) ... .seconds(3600))
        case .temperatureUnit where value.uppercased() == "C": temperatureUnit = .celsius
        case .temperatureUnit where value.uppercased() == "F": temperatureUnit = .fahrenheit
        case .filter where value == "on" || value == "off": filters = value == "on"
        case .screenTimeout, .brightness, .threshold:
            guard let command = key.command, let number = Self.number(value) else { throw Self.illegal(key, value) }
            numbers[command] = number
        case .recordAbove:
            guard let current = Self.amperes(value) else { throw Self.illegal(key, value) }
            recordAbove = current
        case .recordHold: recordHold = try Self.duration(value, key: key, in: .zero ... .seconds(3600))
        case .recordGap: recordGap = try Self.duration(value, key: key, in: .seconds(10) ... .seconds(86_400))
        case .tariff:
            guard let price = Tariff(value) else { throw Self.illegal(key, value) }
            tariff = price
        case .name, .notes, .temperatureUnit, .filter: throw Self.illegal(key, value)
        }
    }

    /// Parses the settings that a person asks for.
    ///
    /// - Parameter profile: the model's abilities; nil if not known yet, and then whatever some model accepts is legal.
    /// - Returns: the values for the store; null resets a setting to its default.
    /// - Throws: `badRequest`, naming the first key or value that is not legal, and what is.
    package static func values(
        of changes: [String: String?], for profile: MeterProfile?
    ) throws(GatewayError) -> [Key: SettingValue] {
        var probe = MeterSettings()
        var values: [Key: SettingValue] = [:]
        for (text, value) in changes.sorted(by: { $0.key < $1.key }) {
            guard let key = Key(rawValue: text) else {
                let keys = Key.allCases.map(\.rawValue)
                throw GatewayError(
                    .badRequest, "no setting is called \(text)",
                    next: keys.suggestion(for: text, "the settings are \(keys.joined(separator: ", "))"))
            }
            if let value {
                try probe.apply(key, value)
                if let profile { try probe.check(key, value, for: profile) }
            }
            values[key] = value == nil ? .null : probe.value(of: key)
        }
        if let interval = probe.pollInterval, case .poll(_, let shortest)? = profile?.rhythm, interval < shortest {
            throw GatewayError(
                .badRequest, "poll-interval is shorter than this model can answer",
                next: "the shortest is \(shortest.milliseconds)ms")
        }
        return values
    }

    private static func isLegal(name: String) -> Bool {
        guard (1...64).contains(name.count), !name.contains(where: \.isControl), !name.hasPrefix("/") else {
            return false
        }
        return name.first != " " && name.last != " " && MeterID(name) == nil
    }

    private static func duration(
        _ text: String, key: Key, in legal: ClosedRange<Duration>
    ) throws(GatewayError) -> Duration {
        guard text.last?.isLetter == true, let duration = Duration(shortText: text), legal.contains(duration) else {
            throw illegal(key, text)
        }
        return duration
    }

    /// Accepts digits only.
    private static func number(_ text: String) -> Int? {
        guard text.utf8.count <= 5, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(text)
    }

    /// Reads `0.05`, `0.05A` or `50mA`.
    private static func amperes(_ text: String) -> Double? {
        Double(amount: text, unit: "A").flatMap { (0.001...100).contains($0) ? $0 : nil }
    }

    static func illegal(_ key: Key, _ value: String) -> GatewayError {
        GatewayError(.badRequest, "\(key.rawValue) cannot be \"\(value)\"", next: "it takes \(key.legal)")
    }
}
