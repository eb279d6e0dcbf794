package import Domain
import GatewayAPI
package import Logging
package import MeterCodec

/// Settings of all meters. Callers report stored changes with `merged`, so that another host's change reaches a
/// connected meter at once.
package actor SettingsService {
    package nonisolated let refreshes = Feed<UInt64>()
    /// New values of `refreshVersion` after local changes, which other hosts do not have yet.
    package nonisolated let localChanges = Feed<UInt64>()
    /// Rises with every change of any record, so that clients redraw.
    package private(set) var refreshVersion: UInt64 = 0

    package nonisolated let changes: ChangeMarks

    let repository: any SettingsRepository
    let now: @Sendable () -> HostMoment
    private let logger: Logger
    private var listeners: [@Sendable (SettingsNews) async -> Void] = []
    /// Greatest `MergeOutcome.number` so far.
    private var latest: UInt64 = 0
    /// `MergeOutcome.number` of the aliases last passed to the listeners.
    private var latestAliases: UInt64 = 0

    package init(
        repository: any SettingsRepository, changes: ChangeMarks = ChangeMarks(),
        now: @escaping @Sendable () -> HostMoment, logger: Logger
    ) {
        self.changes = changes
        self.repository = repository
        self.now = now
        self.logger = logger
    }

    /// Adds a listener. A function that makes a change waits until all listeners return.
    package func subscribe(_ listener: @escaping @Sendable (SettingsNews) async -> Void) { listeners.append(listener) }

    // MARK: Meters

    package func read(_ meter: MeterID) async throws(GatewayError) -> StoredSettings {
        // Take the number first: the record then includes at least the changes up to it.
        let number = latest
        return StoredSettings(of: meter, try await record(of: meter), number: number)
    }

    package func texts(of meter: MeterID) async throws(GatewayError) -> [String: String] {
        try await read(meter).texts
    }

    /// Writes all settings, or none if one is illegal; nil resets one to its default.
    ///
    /// - Parameter here: names of this host's meters, to check that a new name is unique.
    package func set(
        _ changes: [String: String?], of meter: MeterID, for profile: MeterProfile?,
        beside here: [(id: MeterID, name: String?)] = []
    ) async throws(GatewayError) -> [String: String] {
        let values = try MeterSettings.values(of: changes, for: profile)
        if case .string(let name)? = values[.name] { try await check(name, of: meter, beside: here) }
        // Only resets depend on the stored values.
        let present = values.values.contains(.null) ? try await record(of: meter) : nil
        let writes = values.sorted { $0.key.rawValue < $1.key.rawValue }
            // Skip resets of unset values: each would be a change for every host.
            .filter { $0.value != .null || present?.properties[$0.key.rawValue] != nil }
            .map { SettingChange(key: .settings(of: meter), property: $0.key.rawValue, value: $0.value) }
        guard !writes.isEmpty else { return try await texts(of: meter) }
        let written = try await write(writes, doing: "writing the settings of \(meter)")
        let keys = values.keys.map(\.rawValue).sorted()
        logger.info("settings changed", metadata: ["meter.id": "\(meter)", "keys": "\(keys)"])
        return written.first?.texts ?? [:]
    }

    private func check(
        _ name: String, of meter: MeterID, beside here: [(id: MeterID, name: String?)]
    ) async throws(GatewayError) {
        let others = try await meters(beside: here).filter { $0.id != meter }
        guard let other = others.first(where: { $0.name?.lowercased() == name.lowercased() }) else { return }
        throw GatewayError(.badRequest, "\(other.id) is called \"\(name)\" already", next: "choose another name")
    }

    /// Deletes a meter's settings on every host; returns whether there were any.
    @discardableResult
    package func delete(of meter: MeterID) async throws(GatewayError) -> Bool {
        guard let present = try await record(of: meter), !present.isTombstone else { return false }
        try await delete(.settings(of: meter), doing: "deleting the settings of \(meter)")
        logger.info("settings deleted", metadata: ["meter.id": "\(meter)"])
        return true
    }

    /// Returns this host's meters, which keep the names in `here`, then all others with settings on any host.
    package func meters(
        beside here: [(id: MeterID, name: String?)] = []
    ) async throws(GatewayError) -> [(id: MeterID, name: String?)] {
        let met = Set(here.map(\.id))
        var names: [MeterID: String?] = [:]
        for record in try await records(of: .deviceSettings, doing: "reading the settings of all meters")
        where !record.isTombstone {
            // Ids that contain a host's name are used only by older versions. Newer versions use a copy of the record
            // under another id.
            guard let id = MeterID(record.key.name), !id.isGivenByName, !met.contains(id) else { continue }
            // A record under an older form of the id may exist, too. The present form has precedence.
            if record.key == .settings(of: id) || names[id] == nil {
                names.updateValue(MeterSettings(record: record).name, forKey: id)
            }
        }
        return here + names.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func record(of meter: MeterID) async throws(GatewayError) -> SyncRecord? {
        try await record(.settings(of: meter), doing: "reading the settings of \(meter)")
    }

    // MARK: Changes

    /// Makes clients redraw and passes a transaction's changes to the listeners.
    ///
    /// - Parameter isMadeHere: whether the changes are local and not yet in the cloud.
    @discardableResult
    package func merged(_ outcome: MergeOutcome, isMadeHere: Bool = false) async -> [StoredSettings] {
        guard !outcome.changed.isEmpty else { return [] }
        latest = max(latest, outcome.number)
        refreshVersion += 1
        changes.mark([.zone, .host])
        refreshes.yield(refreshVersion)
        // Notify other hosts before waiting for the listeners.
        if isMadeHere { localChanges.yield(refreshVersion) }
        let news = news(of: outcome)
        guard !news.settings.isEmpty || news.aliases != nil else { return [] }
        for listener in listeners { await listener(news) }
        return news.settings
    }

    private func news(of outcome: MergeOutcome) -> SettingsNews {
        let settings = outcome.present.compactMap { record -> StoredSettings? in
            // Ignore records under an older form of a meter's id, because they are not in force.
            guard let meter = MeterID(record.key.name), record.key == .settings(of: meter) else { return nil }
            return StoredSettings(of: meter, record, number: outcome.number)
        }
        var news = SettingsNews(settings: settings)
        if outcome.number > latestAliases, outcome.changed.contains(where: { $0.type == .meterAlias }) {
            latestAliases = outcome.number
            news.aliases = AliasMap.flattened(Self.said(in: outcome.present))
        }
        return news
    }

    /// Handles changes that a user restored from the records excluded from sync. They now wait in the outbox.
    func restored(_ outcome: MergeOutcome) async {
        await merged(outcome, isMadeHere: true)
        guard outcome.changed.isEmpty else { return }
        changes.mark(.host)
        localChanges.yield(refreshVersion + 1)
    }

    /// Writes all properties or none.
    @discardableResult
    func write(_ changes: [SettingChange], doing what: String) async throws(GatewayError) -> [StoredSettings] {
        guard !changes.isEmpty else { return [] }
        let moment = now()
        let outcome = try await GatewayError.doing(what) { try await repository.write(changes, at: moment) }
        return await merged(outcome, isMadeHere: true)
    }

    /// Writes only properties that differ from the stored record. A property missing there counts as null.
    func put(
        _ properties: [String: SettingValue], in key: RecordKey, doing what: String
    ) async throws(GatewayError) {
        let present = try await record(key, doing: what)?.properties
        let news = properties.sorted { $0.key < $1.key }.filter { $0.value != present?[$0.key]?.value ?? .null }
        try await write(news.map { SettingChange(key: key, property: $0.key, value: $0.value) }, doing: what)
    }

    func delete(_ key: RecordKey, doing what: String) async throws(GatewayError) {
        let moment = now()
        let outcome = try await GatewayError.doing(what) { try await repository.delete(key, at: moment) }
        await merged(outcome, isMadeHere: true)
    }

    /// Publishes this host's name, unless the record already has it.
    package func publish(hostName: String) async throws(GatewayError) {
        let what = "writing this host's name"
        let host = try await GatewayError.doing(what) { try await repository.hostIdentity() }
        try await put(["name": .string(hostName)], in: RecordKey(type: .host, name: host.description), doing: what)
    }

    // MARK: The store

    func record(_ key: RecordKey, doing what: String) async throws(GatewayError) -> SyncRecord? {
        try await GatewayError.doing(what) { try await repository.record(key) }
    }

    func records(of type: RecordType, doing what: String) async throws(GatewayError) -> [SyncRecord] {
        try await GatewayError.doing(what) { try await repository.records(of: type) }
    }
}
