package import Domain

/// Converts settings to and from a meter's record and text.
///
/// Each property is named by its key and never changes its type: durations are milliseconds, the rest numbers or text.
/// Text is accepted for any key, because an earlier version stored only text.
extension MeterSettings {
    /// - Parameter record: nil if the meter has no settings.
    package init(record: SyncRecord?) { self.init(stored: Self.texts(of: record)) }

    /// Returns the settings as people type them. Properties of newer versions appear unchanged.
    package static func texts(of record: SyncRecord?) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, register) in record?.properties ?? [:] {
            texts[name] = text(of: register.value, for: Key(rawValue: name))
        }
        return texts
    }

    /// Returns a value as people type it; nil for null, which means "not set".
    package static func text(of value: SettingValue, for key: Key?) -> String? {
        switch value {
        case .null: nil
        case .int(0) where key == .rate: "off"
        case .double(let amperes) where key == .recordAbove && amperes.isFinite: "\(amperes.plainText)A"
        case .int(let number): key?.isTime == true ? Duration.milliseconds(number).shortText : "\(number)"
        case .bool(let flag): "\(flag)"
        case .double(let number): "\(number)"
        case .string(let text): text
        }
    }

    func value(of key: Key) -> SettingValue {
        func time(_ duration: Duration?) -> SettingValue { duration.map { .int($0.milliseconds) } ?? .null }
        func text(_ text: String?) -> SettingValue { text.map { .string($0) } ?? .null }
        return switch key {
        case .name: text(name)
        case .notes: text(notes)
        case .pollInterval: time(pollInterval)
        case .rate: rate.map { .int(Int64($0)) } ?? .null
        case .staleAfter: time(staleAfter)
        case .recordHold: time(recordHold)
        case .recordGap: time(recordGap)
        case .tariff: text(tariff?.description)
        case .recordAbove: recordAbove.map { .double($0) } ?? .null
        case .temperatureUnit: .string(temperatureUnit == .fahrenheit ? "F" : "C")
        case .filter: .string(filters ? "on" : "off")
        case .screenTimeout, .brightness, .threshold:
            key.command.flatMap { numbers[$0] }.map { .int(Int64($0)) } ?? .null
        }
    }
}

extension MeterSettings.Key {
    var isTime: Bool { [.pollInterval, .staleAfter, .recordHold, .recordGap].contains(self) }
}

extension RecordKey {
    package static func settings(of meter: MeterID) -> RecordKey {
        RecordKey(type: .deviceSettings, name: meter.description)
    }
}
