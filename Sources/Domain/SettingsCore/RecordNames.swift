extension RecordType {
    /// Whether its records are named by a meter's id, which can have several forms
    /// (Docs/SettingsAndRebuild.md#rebuild).
    package var isNamedByMeter: Bool { self == .deviceSettings || self == .meterAlias }
}

extension RecordKey {
    /// The key under which the record is kept, whatever form its name has. The same key if the name is in its normal
    /// form, or in one that this version does not know.
    package var normalised: RecordKey {
        type.isNamedByMeter ? RecordKey(type: type, name: MeterID.normalised(recordName: name)) : self
    }
}

extension MeterID {
    /// The normal form of a meter id in any form. A text that is not a meter id is returned as it is: a newer host may
    /// know what it means.
    package static func normalised(recordName: String) -> String {
        // Nearly all are.
        if MACAddress(printed: recordName) != nil { return recordName }
        return MeterID(recordName)?.description ?? recordName
    }
}

/// Why a record cannot be kept as it is; it is parked with this reason. Only what would harm a store is refused, so
/// that what a newer host writes is kept.
package enum RecordFault: Hashable, Sendable {
    case type(String)
    case name(String)
    case property(String)
    /// The property whose value cannot be stored (`SettingValue.isStorable`).
    case value(of: String)
    /// More properties than `SyncRecord.propertiesMax`.
    case properties(Int)
}

extension SyncRecord {
    /// Longest type or property name, in bytes of UTF-8. They are printable ASCII: a program's words, not a person's.
    package static let wordBytesMax = 64
    /// Longest record name, in bytes of UTF-8. The longest in practice are paths below /dev.
    package static let nameBytesMax = 512
    package static let propertiesMax = 256

    /// What is wrong with the record, if anything.
    package var fault: RecordFault? {
        if !Self.isWord(key.type.rawValue) { return .type(key.type.rawValue) }
        if let name = [key.name, deletion?.mergedInto].compactMap({ $0 }).first(where: { !Self.isName($0) }) {
            return .name(name)
        }
        if properties.count > Self.propertiesMax { return .properties(properties.count) }
        let faulty = properties.lazy.filter { !Self.isWord($0.key) || !$0.value.value.isStorable }
        // The first by name, so that everybody names the same one.
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
