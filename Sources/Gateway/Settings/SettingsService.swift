import GatewayAPI
package import Logging
package import MeterCodec
package import MeterModel
import SettingsCore
package import SyncCore

/// The settings of all meters: reads what people ask for, stores it, and passes on what changed, here or on another host.
///
/// Whoever merges records from elsewhere says so with `merged`; so a setting that was changed on another host reaches
/// the meter that is connected here at once.
package actor SettingsService {
    /// The refresh version, each time it rises.
    package nonisolated let refreshes = Feed<UInt64>()
    /// The refresh version, each time it rises by a change that was made here, which other hosts do not know yet.
    package nonisolated let localChanges = Feed<UInt64>()
    /// Rises with every change of any record, local or not: whoever shows records shows them anew.
    package private(set) var refreshVersion: UInt64 = 0

    let repository: any SettingsRepository
    let now: @Sendable () -> HostMoment
    private let logger: Logger
    private var listeners: [@Sendable (SettingsNews) async -> Void] = []
    /// Of settings, so far.
    private var readings: UInt64 = 0

    /// - Parameter now: the host's two clocks.
    package init(repository: any SettingsRepository, now: @escaping @Sendable () -> HostMoment, logger: Logger) {
        self.repository = repository
        self.now = now
        self.logger = logger
    }

    /// From now on `listener` hears of each change. Whoever changes something waits until it has taken that in.
    package func subscribe(_ listener: @escaping @Sendable (SettingsNews) async -> Void) { listeners.append(listener) }

    // MARK: Meters

    /// What is set for a meter now.
    package func read(_ meter: MeterID) async throws(GatewayError) -> StoredSettings {
        readings += 1
        let number = readings
        return StoredSettings(try await record(of: meter), number: number)
    }

    /// What is set for a meter, as people type it.
    package func texts(of meter: MeterID) async throws(GatewayError) -> [String: String] {
        try await read(meter).texts
    }

    /// Sets what a person asks for; nil takes a setting back to its default. All of it or, where something is not
    /// legal, nothing.
    ///
    /// - Parameters:
    ///   - profile: the model's abilities, nil while it is not known.
    ///   - checkName: has a say in what the meter may be called; asked once everything is known to be legal.
    /// - Returns: what is set now.
    package func set(
        _ changes: [String: String?], of meter: MeterID, for profile: MeterProfile?,
        checkName: @Sendable (String) async throws(GatewayError) -> Void = { _ in }
    ) async throws(GatewayError) -> [String: String] {
        let values = try MeterSettings.values(of: changes, for: profile)
        if case .string(let name)? = values[.name] { try await checkName(name) }
        let present = try await record(of: meter)
        let writes = values.sorted { $0.key.rawValue < $1.key.rawValue }
            // What was never set is not taken back: that would be news to every host.
            .filter { $0.value != .null || present?.properties[$0.key.rawValue] != nil }
            .map { SettingChange(key: .settings(of: meter), property: $0.key.rawValue, value: $0.value) }
        guard !writes.isEmpty else { return MeterSettings.texts(of: present) }
        let moment = now()
        let outcome = try await asking("writing the settings of \(meter)") { [repository] in
            try await repository.write(writes, at: moment)
        }
        // It is written: those who listen hear of it even where it cannot be read again.
        do throws(GatewayError) {
            let stored = try await read(meter)
            await wrote(outcome, of: meter, values, stored)
            return stored.texts
        } catch {
            await wrote(outcome, of: meter, values, nil)
            throw error
        }
    }

    private func wrote(
        _ outcome: MergeOutcome, of meter: MeterID, _ values: [MeterSettings.Key: SettingValue],
        _ stored: StoredSettings?
    ) async {
        await wrote(outcome, read: stored.map { [meter: $0] } ?? [:])
        let keys = values.keys.map(\.rawValue).sorted()
        logger.info("settings changed", metadata: ["meter.id": "\(meter)", "keys": "\(keys)"])
    }

    /// Forgets all settings of a meter, on every host.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    package func delete(of meter: MeterID) async throws(GatewayError) -> Bool {
        guard let present = try await record(of: meter), !present.isTombstone else { return false }
        let (key, moment) = (RecordKey.settings(of: meter), now())
        await wrote(
            try await asking("deleting the settings of \(meter)") { [repository] in
                try await repository.delete(key, at: moment)
            })
        logger.info("settings deleted", metadata: ["meter.id": "\(meter)"])
        return true
    }

    /// All meters that anything is set for, here or on another host, with their names.
    package func meters() async throws(GatewayError) -> [(id: MeterID, name: String?)] {
        let records = try await asking("reading the settings of all meters") { [repository] in
            try await repository.records(of: .deviceSettings)
        }
        var names: [MeterID: String?] = [:]
        for record in records where !record.isTombstone {
            // One that names its host by a name is kept for hosts of older versions; up-to-date ones have a copy.
            guard let id = MeterID(record.key.name), !id.isGivenByName else { continue }
            // An older form of the name may still stand beside the present one.
            if record.key == .settings(of: id) || names[id] == nil {
                names.updateValue(MeterSettings(record: record).name, forKey: id)
            }
        }
        return names.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func record(of meter: MeterID) async throws(GatewayError) -> SyncRecord? {
        try await asking("reading the settings of \(meter)") { [repository] in
            try await repository.record(.settings(of: meter))
        }
    }

    // MARK: What changed

    /// Records were written here, by a person or by the rebuild.
    ///
    /// - Parameter read: what is set now, as far as it was read since.
    func wrote(_ outcome: MergeOutcome, read: [MeterID: StoredSettings] = [:]) async {
        guard !outcome.changed.isEmpty else { return }
        localChanges.yield(refreshVersion + 1)
        await changed(outcome.changed, read: read)
    }

    /// What was parked is back, and waits to be sent.
    func restored(_ outcome: MergeOutcome) async {
        guard outcome.changed.isEmpty else { return await wrote(outcome) }
        localChanges.yield(refreshVersion + 1)
    }

    /// Records were merged that came from the cloud: from a page, or from a batch's answer.
    package func merged(_ outcome: MergeOutcome) async { await changed(outcome.changed, read: [:]) }

    private func changed(_ keys: [RecordKey], read: [MeterID: StoredSettings]) async {
        guard !keys.isEmpty else { return }
        refreshVersion += 1
        refreshes.yield(refreshVersion)
        var meters: [MeterID] = []
        for key in keys where key.type == .deviceSettings {
            guard let meter = MeterID(key.name), !meters.contains(meter) else { continue }
            meters.append(meter)
        }
        let news = SettingsNews(
            of: meters, read: read, aliasesChanged: keys.contains { $0.type == .meterAlias })
        guard !news.meters.isEmpty || news.aliasesChanged else { return }
        for listener in listeners { await listener(news) }
    }

    // MARK: This host

    /// Tells the other hosts what this one is called, where they do not know.
    package func publish(hostName: String) async throws(GatewayError) {
        let moment = now()
        let outcome = try await asking("writing this host's name") { [repository] in
            let key = RecordKey(type: .host, name: try await repository.hostIdentity().description)
            let present = try await repository.record(key)?.properties["name"]?.value
            guard present != .string(hostName) else { return MergeOutcome() }
            return try await repository.write(
                [SettingChange(key: key, property: "name", value: .string(hostName))], at: moment)
        }
        await wrote(outcome)
    }

    func asking<Answer: Sendable>(
        _ what: String, _ body: @Sendable () async throws -> Answer
    ) async throws(GatewayError) -> Answer {
        do {
            return try await body()
        } catch {
            throw GatewayError(error, doing: what)
        }
    }
}
