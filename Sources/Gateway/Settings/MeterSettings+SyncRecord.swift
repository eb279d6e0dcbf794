package import MeterModel
package import SettingsCore

/// How settings are kept in a meter's record, and how people see them.
///
/// A property has the key as its name, and one type for ever: times are milliseconds, numbers are numbers, the rest is
/// text. A text is read for any key, as an earlier version kept them all.
extension MeterSettings {
    /// - Parameter record: the meter's; nil means nothing was ever set.
    package init(record: SyncRecord?) { self.init(stored: Self.texts(of: record)) }

    /// What is set, as people type it. Properties that only a newer version knows are shown as they are.
    package static func texts(of record: SyncRecord?) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, register) in record?.properties ?? [:] {
            texts[name] = text(of: register.value, for: Key(rawValue: name))
        }
        return texts
    }

    /// A value as people type it.
    ///
    /// - Returns: nil for null, which is "not set".
    package static func text(of value: SettingValue, for key: Key?) -> String? {
        switch value {
        case .null: nil
        case .int(let number): key?.isTime == true ? Duration.milliseconds(number).shortText : "\(number)"
        case .bool(let flag): "\(flag)"
        case .double(let number): "\(number)"
        case .string(let text): text
        }
    }

    /// How what is set is kept.
    func value(of key: Key) -> SettingValue {
        func time(_ duration: Duration?) -> SettingValue { duration.map { .int($0.milliseconds) } ?? .null }
        func text(_ text: String?) -> SettingValue { text.map { .string($0) } ?? .null }
        return switch key {
        case .name: text(name)
        case .notes: text(notes)
        case .pollInterval: time(pollInterval)
        case .staleAfter: time(staleAfter)
        case .recordHold: time(recordHold)
        case .recordGap: time(recordGap)
        case .recordAbove: recordAbove.map { .double($0) } ?? .null
        case .temperatureUnit: .string(temperatureUnit == .fahrenheit ? "F" : "C")
        case .screenTimeout, .brightness, .threshold:
            key.command.flatMap { numbers[$0] }.map { .int(Int64($0)) } ?? .null
        }
    }
}

extension MeterSettings.Key {
    var isTime: Bool {
        switch self {
        case .pollInterval, .staleAfter, .recordHold, .recordGap: true
        case .name, .notes, .temperatureUnit, .screenTimeout, .brightness, .threshold, .recordAbove: false
        }
    }
}

extension RecordKey {
    /// Of a meter's settings.
    package static func settings(of meter: MeterID) -> RecordKey {
        RecordKey(type: .deviceSettings, name: meter.description)
    }
}
