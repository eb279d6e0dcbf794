package import Domain
import GatewayAPI

/// Aliases: a meter reached over both USB and radio has two ids (Docs/Decisions/0014-takeovers-and-aliases.md). A
/// `MeterAlias` record has the alias as its name; its property `meter` is the meter's id, or null after a user
/// separated the two ids.
extension SettingsService {
    private static let property = "meter"

    /// Returns the meter of each alias. The meter is never itself an alias.
    package func aliases() async throws(GatewayError) -> [MeterID: MeterID] {
        AliasMap.flattened(try await saidAliases())
    }

    private func saidAliases() async throws(GatewayError) -> [MeterID: MeterID] {
        Self.said(in: try await records(of: .meterAlias, doing: "reading the other names of meters"))
    }

    /// Returns the stored meter of each alias, which may itself be an alias.
    static func said(in records: [SyncRecord]) -> [MeterID: MeterID] {
        var said: [MeterID: MeterID] = [:]
        for record in records where record.key.type == .meterAlias {
            guard let alias = MeterID(record.key.name),
                case .string(let text)? = record.properties[property]?.value, let meter = MeterID(text)
            else { continue }
            said[alias] = meter
        }
        return said
    }

    /// Deletes a meter's aliases and the alias record of its own id.
    func removeAliases(of meter: MeterID) async throws(GatewayError) -> [MeterID] {
        let known = try await aliases()
        let gone = known.filter { $0.key == meter || $0.value == meter }.map(\.key).sorted()
        for alias in gone { try await delete(.alias(alias), doing: "forgetting that \(alias) is \(meter)") }
        return gone
    }

    /// Makes an id and its own aliases refer to a meter, on every host.
    ///
    /// - Returns: the meter to which the alias now refers; if `meter` is itself an alias, its meter.
    /// - Throws: `refused` if `meter` already refers to the alias.
    @discardableResult
    package func add(alias: MeterID, of meter: MeterID) async throws(GatewayError) -> MeterID {
        let said = try await saidAliases()
        let known = AliasMap.flattened(said)
        let target = known[meter] ?? meter
        guard target != alias else {
            throw GatewayError(
                .refused,
                meter == alias ? "\(alias) cannot be its own alias" : "\(meter) is already another id of \(alias)",
                next: meter == alias ? "name two different ids" : "part them first: meterctl unalias \(meter)")
        }
        let aliases = [alias] + known.filter { $0.value == alias }.map(\.key).sorted()
        try await write(aliases.filter { said[$0] != target }, as: .string(target.description))
        return target
    }

    /// Separates an id from its meter on every host. No host pairs them again automatically.
    package func part(_ alias: MeterID, from meter: MeterID) async throws(GatewayError) {
        let said = try await saidAliases()
        // If the aliases form a circle, the meter's own id is also an alias.
        try await write([alias, meter].filter { said[$0] != nil }, as: .null)
    }

    /// Adds an alias that the host discovered, unless a user separated the two ids.
    func learn(alias: MeterID, of meter: MeterID) async throws(GatewayError) {
        let record = try await record(.alias(alias), doing: "reading the other names of meters")
        if record?.properties[Self.property]?.value != .null { try await add(alias: alias, of: meter) }
    }

    private func write(_ aliases: [MeterID], as value: SettingValue) async throws(GatewayError) {
        guard let first = aliases.first else { return }
        let changes = aliases.map { SettingChange(key: .alias($0), property: Self.property, value: value) }
        try await write(changes, doing: "writing that \(first) is \(value)")
    }
}

extension RecordKey {
    fileprivate static func alias(_ id: MeterID) -> RecordKey { RecordKey(type: .meterAlias, name: id.description) }
}
