package import MeterModel
import SettingsCore

/// Ids that mean a meter which has another one: a meter that is reached over USB and over a radio has both (product.md,
/// Identity). Kept as records of type `MeterAlias`, named by the other id, with the meter's id in `meter`.
extension SettingsService {
    private static let property = "meter"

    /// The id of the meter that each alias means. One that leads round in a circle means nothing.
    package func aliases() async throws(GatewayError) -> [MeterID: MeterID] {
        let records = try await asking("reading the other names of meters") { [repository] in
            try await repository.records(of: .meterAlias)
        }
        var direct: [MeterID: MeterID] = [:]
        for record in records where !record.isTombstone {
            guard let alias = MeterID(record.key.name),
                case .string(let text)? = record.properties[Self.property]?.value, let meter = MeterID(text)
            else { continue }
            direct[alias] = meter
        }
        return direct.compactMapValues { first in
            var meter = first
            for _ in 0..<direct.count {
                guard let next = direct[meter] else { return meter }
                meter = next
            }
            return direct[meter] == nil ? meter : nil
        }
    }

    /// Forgets, on every host, that other ids mean a meter, and that its id means another one.
    ///
    /// - Returns: those ids.
    package func removeAliases(of meter: MeterID) async throws(GatewayError) -> [MeterID] {
        let known = try await aliases()
        let gone = known.filter { $0.key == meter || $0.value == meter }.map(\.key).sorted()
        let moment = now()
        for alias in gone {
            let key = RecordKey(type: .meterAlias, name: alias.description)
            await wrote(
                try await asking("forgetting that \(alias) is \(meter)") { [repository] in
                    try await repository.delete(key, at: moment)
                })
        }
        return gone
    }

    /// Remembers, on every host, that an id means a meter which has another one.
    package func add(alias: MeterID, of meter: MeterID) async throws(GatewayError) {
        let change = SettingChange(
            key: RecordKey(type: .meterAlias, name: alias.description), property: Self.property,
            value: .string(meter.description))
        let moment = now()
        await wrote(
            try await asking("writing that \(alias) is \(meter)") { [repository] in
                try await repository.write([change], at: moment)
            })
    }
}
