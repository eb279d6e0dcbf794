package import Domain
import GatewayAPI

/// Other ids of meters: a meter that is reached over both USB and a radio has two
/// (Docs/Decisions/0014-takeovers-and-aliases.md). Kept as records of type `MeterAlias`, named by the other id, with
/// the meter's id in the property `meter`; null there if a person has parted them.
extension SettingsService {
    private static let property = "meter"

    /// The id of the meter that each alias means, in one hop.
    package func aliases() async throws(GatewayError) -> [MeterID: MeterID] {
        AliasMap.flattened(try await saidAliases())
    }

    private func saidAliases() async throws(GatewayError) -> [MeterID: MeterID] {
        Self.said(in: try await records(of: .meterAlias, doing: "reading the other names of meters"))
    }

    /// The meter that each alias's record names, even if that id is itself an alias.
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

    /// Deletes a meter's aliases on every host, and the alias record of its own id, if there is one.
    ///
    /// - Returns: the deleted aliases.
    func removeAliases(of meter: MeterID) async throws(GatewayError) -> [MeterID] {
        let known = try await aliases()
        let gone = known.filter { $0.key == meter || $0.value == meter }.map(\.key).sorted()
        for alias in gone { try await delete(.alias(alias), doing: "forgetting that \(alias) is \(meter)") }
        return gone
    }

    /// Records, on every host, that an id is an alias of a meter. Its own aliases become aliases of that meter too.
    ///
    /// - Returns: the id that the alias means now: if `meter` is itself an alias, that of the meter it means.
    /// - Throws: `refused` if `meter` already means the alias.
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

    /// Parts an id from the meter that it means, on every host and for good: no host makes it an alias by itself again.
    package func part(_ alias: MeterID, from meter: MeterID) async throws(GatewayError) {
        let said = try await saidAliases()
        // In a circle the meter's own id is recorded as an alias too.
        try await write([alias, meter].filter { said[$0] != nil }, as: .null)
    }

    /// Adds an alias that the host found by itself, unless a person parted the two.
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
