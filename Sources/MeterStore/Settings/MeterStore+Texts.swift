import GRDB
package import Gateway
package import MeterModel
import SettingsCore

/// The settings of a meter as texts: the older port's view of its record.
extension MeterStore {
    package func settings(of meter: MeterID) async throws(StoreError) -> [String: String] {
        let record = try await record(RecordKey(type: .deviceSettings, name: meter.description))
        return (record?.properties ?? [:]).compactMapValues { $0.value.text }
    }

    package func set(_ changes: [String: String?], for meter: MeterID) async throws(StoreError) {
        guard !changes.isEmpty else { return }
        try checkStorable(meter)
        let path = path
        let key = RecordKey(type: .deviceSettings, name: meter.description)
        let physical = UInt64(clamping: calendar?().millisecondsSince1970 ?? 0)
        try await changeSettings { ledger in
            // In a fixed order, so that the same changes are always the same statements.
            for (property, text) in changes.sorted(by: { $0.key < $1.key }) {
                let value = text.map { SettingValue.string($0) } ?? .null
                // What was never set is not taken back.
                if text == nil, try ledger.record(key)?.properties[property] == nil { continue }
                let change = SettingChange(key: key, property: property, value: value)
                _ = try ledger.write(change, physical: physical, sinceBoot: nil, path: path)
            }
        }
    }
}

extension SettingValue {
    fileprivate var text: String? {
        switch self {
        case .null: nil
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let text): text
        }
    }
}
