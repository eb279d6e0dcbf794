extension RecordType {
    /// Whether the record's name is a meter's id, which can have several forms (Docs/SettingsAndRebuild.md#rebuild).
    package var isNamedByMeter: Bool { self == .deviceSettings || self == .meterAlias }
}

extension RecordKey {
    /// Key under which the store keeps the record. Unchanged if the name is normal or unknown to this version.
    package var normalised: RecordKey {
        type.isNamedByMeter ? RecordKey(type: type, name: MeterID.normalised(recordName: name)) : self
    }
}

extension MeterID {
    /// Returns unknown names unchanged, because a newer host may use them.
    package static func normalised(recordName: String) -> String {
        if MACAddress(printed: recordName) != nil { return recordName }
        return MeterID(recordName)?.description ?? recordName
    }
}

/// Reason why a record is set aside. Only harmful records are, so that a newer host's records are kept.
package enum RecordFault: Hashable, Sendable {
    case type(String)
    case name(String)
    case property(String)
    /// A property's value is not storable (`SettingValue.isStorable`).
    case value(of: String)
    case properties(Int)
}

extension SyncRecord {
    /// Maximum bytes of type and property names, which are printable ASCII.
    package static let wordBytesMax = 64
    /// Maximum length of a record's name, in bytes of UTF-8. The longest in practice are paths below /dev.
    package static let nameBytesMax = 512
    package static let propertiesMax = 256

    package var fault: RecordFault? {
        if !Self.isWord(key.type.rawValue) { return .type(key.type.rawValue) }
        if let name = [key.name, deletion?.mergedInto].compactMap({ $0 }).first(where: { !Self.isName($0) }) {
            return .name(name)
        }
        if properties.count > Self.propertiesMax { return .properties(properties.count) }
        let faulty = properties.lazy.filter { !Self.isWord($0.key) || !$0.value.value.isStorable }
        // The first by name, so that all hosts report the same property.
        guard let property = faulty.map(\.key).min() else { return nil }
        return Self.isWord(property) ? .value(of: property) : .property(property)
    }

    private static func isName(_ text: String) -> Bool {
        (1...nameBytesMax).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 }
    }

    private static func isWord(_ text: String) -> Bool {
        (1...wordBytesMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension RecordFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .type(let type):
            "\"\(type)\" cannot be a record's type: 1 to \(SyncRecord.wordBytesMax) printable ASCII characters"
        case .name(let name):
            "\"\(name)\" cannot name a record: 1 to \(SyncRecord.nameBytesMax) bytes without control characters"
        case .property(let property):
            "\"\(property)\" cannot name a property: 1 to \(SyncRecord.wordBytesMax) printable ASCII characters"
        case .value(let property):
            "the value of \(property) cannot be kept: a number is finite, a text has at most "
                + "\(SettingValue.stringBytesMax) bytes"
        case .properties(let count):
            "\(count) properties are too many for a record: it holds at most \(SyncRecord.propertiesMax)"
        }
    }
}
