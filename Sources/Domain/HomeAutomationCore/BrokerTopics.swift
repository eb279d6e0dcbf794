/// Topics of a gateway and its meters. Their levels consist of letters, digits, `-` and `_` only, so that no name can
/// refer to another topic.
package struct BrokerTopics: Hashable, Sendable {
    /// Beginning of all topics except Home Assistant's: one or more levels.
    package let base: String
    package let discoveryPrefix: String
    /// Level that names this gateway; a meter's topics do not contain it.
    package let gateway: String

    /// - Parameters:
    ///   - base: one or more levels, for which `isPrefix` is true.
    ///   - host: name for users; `id` distinguishes hosts of the same name.
    package init(base: String = "metergateway", discoveryPrefix: String = "homeassistant", host: String, id: HostID) {
        self.base = base
        self.discoveryPrefix = discoveryPrefix
        gateway = "\(Self.level(host))-\(id.description.prefix(8))"
    }

    /// Whether a text may begin a topic: not empty, no wildcard, not the broker's own `$…`.
    package static func isPrefix(_ text: String) -> Bool {
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count <= 100
            && levels.allSatisfy { level in
                !level.isEmpty && level.utf8.allSatisfy { $0.isTopicSafe || $0 == UInt8(ascii: ".") }
            }
    }

    /// Replaces forbidden characters with `_`.
    private static func level(_ name: String) -> String {
        let safe = name.unicodeScalars.prefix(64).map { scalar in
            scalar.isASCII && UInt8(truncatingIfNeeded: scalar.value).isTopicSafe ? Character(scalar) : "_"
        }
        return safe.isEmpty ? "gateway" : String(safe)
    }

    // MARK: Topics of this gateway

    /// Topic of the gateway's `online` or `offline`, retained. The broker publishes `offline` if it loses the
    /// connection.
    package var bridge: String { "\(base)/bridge/\(gateway)/state" }
    package var allRequests: String { "\(base)/bridge/\(gateway)/request/+" }
    package func request(_ meter: MeterID) -> String { "\(base)/bridge/\(gateway)/request/\(meter.topicKey)" }
    package func response(_ key: String) -> String { "\(base)/bridge/\(gateway)/response/\(key)" }

    /// Returns the key of the meter in a request's topic; nil for any other topic.
    func requestKey(in topic: String) -> String? {
        let prefix = "\(base)/bridge/\(gateway)/request/"
        guard topic.hasPrefix(prefix) else { return nil }
        let key = topic.dropFirst(prefix.count)
        guard (1...200).contains(key.utf8.count), key.utf8.allSatisfy(\.isTopicSafe) else { return nil }
        return String(key)
    }

    /// Topic of an alert; its messages are retained unless the alert is momentary.
    package func alert(_ number: Int64) -> String { "\(base)/bridge/\(gateway)/alert/\(number)" }

    // MARK: Topics of a meter, whichever gateway has it

    /// Topic of the latest reading, retained.
    package func state(_ meter: MeterID) -> String { "\(base)/meter/\(meter.topicKey)/state" }
    /// Topic of connection state and holder, retained.
    package func status(_ meter: MeterID) -> String { "\(base)/meter/\(meter.topicKey)/status" }
    /// Topic of the meter's availability, retained: `online` while the meter has data.
    package func availability(_ meter: MeterID) -> String { "\(base)/meter/\(meter.topicKey)/availability" }
    /// Topic of users' marks made or changed, not retained.
    package func mark(_ meter: MeterID) -> String { "\(base)/meter/\(meter.topicKey)/mark" }
    /// Topic of readings delivered late, each with its time of measurement.
    package func backlog(_ meter: MeterID) -> String { "\(base)/meter/\(meter.topicKey)/backlog" }

    // MARK: Topics of Home Assistant

    /// Topic on which Home Assistant publishes `online` after its start.
    var homeAssistantStatus: String { "\(discoveryPrefix)/status" }
    func alertDiscovery(_ number: Int64) -> String {
        "\(discoveryPrefix)/binary_sensor/\(gateway)_alert_\(number)/config"
    }
    package func discovery(_ meter: MeterID) -> String {
        "\(discoveryPrefix)/device/\(meter.homeAssistantID)/config"
    }
}

extension MeterID {
    /// Topic level for the meter: letters, digits, `-` and `_`. Different ids have different keys.
    package var topicKey: String {
        if case .mac(let address) = self { return address.description.filter { $0 != ":" }.lowercased() }
        var key = ""
        for byte in description.utf8 {
            switch byte {
            case UInt8(ascii: ":"): key += "-"
            case _ where byte.isLetterOrDigit: key.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16)
                key += digits.count == 1 ? "_0\(digits)" : "_\(digits)"
            }
        }
        return key
    }

    /// Id of the meter's device in Home Assistant; its entities' ids begin with it.
    var homeAssistantID: String { "metergateway_\(topicKey)" }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    fileprivate var isTopicSafe: Bool { isLetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}
