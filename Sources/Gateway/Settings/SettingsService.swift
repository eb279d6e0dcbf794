import GatewayAPI
package import Logging
package import MeterCodec
package import MeterModel
import SettingsCore
package import SyncCore

/// Is told when settings of meters are not what they were, whoever changed them.
package protocol SettingsObserver: AnyObject, Sendable {
    func settingsChanged(of meters: [MeterID]) async
    /// Another name for a meter was learned, here or by another host.
    func aliasesChanged() async
}

/// The settings of all meters: sets and gets what people ask for, and passes on what changed, here or on another host.
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
    private weak var observer: (any SettingsObserver)?

    /// - Parameter now: the host's two clocks.
    package init(repository: any SettingsRepository, now: @escaping @Sendable () -> HostMoment, logger: Logger) {
        self.repository = repository
        self.now = now
        self.logger = logger
    }

    /// From now on `observer` is told. It is not kept alive.
    package func tell(_ observer: any SettingsObserver) { self.observer = observer }

    // MARK: Meters

    package func settings(of meter: MeterID) async throws(GatewayError) -> MeterSettings {
        MeterSettings(record: try await record(of: meter))
    }

    /// What is set for a meter, as people type it.
    package func texts(of meter: MeterID) async throws(GatewayError) -> [String: String] {
        MeterSettings.texts(of: try await record(of: meter))
    }

    /// Sets what a person asks for; nil takes a setting back to its default. All of it or, where something is not
    /// legal, nothing.
    ///
    /// - Parameter profile: the model's abilities, nil while it is not known.
    /// - Returns: what is set now.
    package func set(
        _ changes: [String: String?], of meter: MeterID, for profile: MeterProfile?
    ) async throws(GatewayError) -> [String: String] {
        let key = RecordKey.settings(of: meter)
        let legal = try MeterSettings.validated(changes, for: profile)
        let present = try await record(of: meter)
        var writes: [SettingChange] = []
        for (name, text) in legal.sorted(by: { $0.key < $1.key }) {
            guard let setting = MeterSettings.Key(rawValue: name) else { continue }
            // What was never set is not taken back: that would be news to every host.
            if text == nil, present?.properties[name] == nil { continue }
            let value = if let text { try MeterSettings.value(of: text, for: setting) } else { SettingValue.null }
            writes.append(SettingChange(key: key, property: name, value: value))
        }
        if !writes.isEmpty {
            let (changes, moment) = (writes, now())
            await wrote(
                try await asking("writing the settings of \(meter)") { [repository] in
                    try await repository.write(changes, at: moment)
                })
            logger.info("settings changed", metadata: ["meter.id": "\(meter)", "keys": "\(legal.keys.sorted())"])
        }
        return try await texts(of: meter)
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

    private func record(of meter: MeterID) async throws(GatewayError) -> Record? {
        try await asking("reading the settings of \(meter)") { [repository] in
            try await repository.record(.settings(of: meter))
        }
    }

    // MARK: What changed

    /// Records were written here, by a person or by the rebuild.
    func wrote(_ outcome: MergeOutcome) async {
        guard !outcome.changed.isEmpty else { return }
        localChanges.yield(refreshVersion + 1)
        await merged(outcome)
    }

    /// What was parked is back, and waits to be sent.
    func restored(_ outcome: MergeOutcome) async {
        guard outcome.changed.isEmpty else { return await wrote(outcome) }
        localChanges.yield(refreshVersion + 1)
    }

    /// Records were merged that came from the cloud: from a page, or from a batch's answer.
    package func merged(_ outcome: MergeOutcome) async {
        guard !outcome.changed.isEmpty else { return }
        refreshVersion += 1
        refreshes.yield(refreshVersion)
        var meters: [MeterID] = []
        for key in outcome.changed where key.type == .deviceSettings {
            guard let meter = MeterID(key.name), !meters.contains(meter) else { continue }
            meters.append(meter)
        }
        if !meters.isEmpty { await observer?.settingsChanged(of: meters) }
        if outcome.changed.contains(where: { $0.type == .meterAlias }) { await observer?.aliasesChanged() }
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
