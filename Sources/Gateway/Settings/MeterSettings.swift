package import Domain
import GatewayAPI
package import MeterCodec

package struct MeterSettings: Hashable, Sendable {
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
            case .recordAbove: "a current from 1mA to 100A, such as 50mA"
            case .recordHold: "a time from 0s to 1h, such as 10s"
            case .recordGap: "a time from 10s to 24h, such as 10m"
            case .tariff: "the price of a kilowatt-hour with its currency, such as 0.32 EUR"
            }
        }

        /// Command that sends the setting to the meter; nil for a setting of meterd only.
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
    /// Nil for the model's default.
    package var pollInterval: Duration?
    /// Samples per second by the meter's own clock; 0 for none. Not requested if the model does not offer it.
    package var rate: Int?
    /// Time after which data are stale; nil for the default: three poll intervals, at least 3 s.
    package var staleAfter: Duration?
    package var temperatureUnit: TemperatureUnit = .celsius
    /// Whether implausible single values are dropped.
    package var filters = true
    /// Numbers to send to the meter, by command, in the model's unit. Commands unknown to the model are not sent.
    package var numbers: [MeterCommand.Kind: Int] = [:]
    /// Current in amperes that starts an automatic recording; nil for manual recordings only.
    package var recordAbove: Double?
    /// Time that the current must be above `recordAbove` to start a recording, or below it to end one; nil for the
    /// default.
    var recordHold: Duration?
    /// Longest gap between readings before an automatic recording ends; nil for the default.
    var recordGap: Duration?
    package var tariff: Tariff?

    /// Upper limit of whole-number settings, above that of any model.
    package static let numberMax = 99_999

    package init() {}

    /// Parses stored settings. An unreadable text counts as not set, but remains in the store.
    package init(stored texts: [String: String]) {
        for (text, value) in texts {
            guard let key = Key(rawValue: text) else { continue }
            try? apply(key, value)
            // Earlier versions stored amperes without their unit.
            if key == .recordAbove { recordAbove = Self.amperes(value) }
        }
    }

    /// Parses and applies one value. The error names the legal values.
    package mutating func apply(_ key: Key, _ value: String) throws(GatewayError) {
        switch key {
        case .name where Self.isLegal(name: value): name = value
        case .notes where value.count <= 1000 && !value.contains(where: { $0 != "\n" && $0.isControl }): notes = value
        case .pollInterval:
            // Reject a number without a unit: it could be milliseconds or seconds.
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
            // Reject a number without a unit: it could be amperes or milliamperes.
            guard value.hasSuffix("A"), let current = Self.amperes(value) else { throw Self.illegal(key, value) }
            recordAbove = current
        case .recordHold: recordHold = try Self.duration(value, key: key, in: .zero ... .seconds(3600))
        case .recordGap: recordGap = try Self.duration(value, key: key, in: .seconds(10) ... .seconds(86_400))
        case .tariff:
            guard let price = Tariff(value) else { throw Self.illegal(key, value) }
            tariff = price
        case .name, .notes, .temperatureUnit, .filter: throw Self.illegal(key, value)
        }
    }

    /// Parses settings that a person entered. Null resets a setting to its default.
    ///
    /// - Parameter profile: the model's abilities; nil if unknown, which allows values that any model accepts.
    /// - Throws: `badRequest`, with the first illegal key or value and the legal ones.
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

    private static func number(_ text: String) -> Int? {
        guard text.utf8.count <= 5, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(text)
    }

    /// Parses `0.05`, `0.05A` or `50mA`.
    private static func amperes(_ text: String) -> Double? {
        Double(amount: text, unit: "A").flatMap { (0.001...100).contains($0) ? $0 : nil }
    }

    static func illegal(_ key: Key, _ value: String) -> GatewayError {
        GatewayError(.badRequest, "\(key.rawValue) cannot be \"\(value)\"", next: "it takes \(key.legal)")
    }
}
