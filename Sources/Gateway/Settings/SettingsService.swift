package import Domain
import GatewayAPI
package import Logging
package import MeterCodec

/// The settings of all meters: parses what people ask for, stores it, and passes on changes made here or on another
/// host.
///
/// Records merged from elsewhere are reported with `merged`, so that a setting that was changed on another host reaches
/// a meter that is connected here at once.
package actor SettingsService {
    /// The refresh version, each time it rises.
    package nonisolated let refreshes = Feed<UInt64>()
    /// The refresh version, each time it rises because of a change made here, which other hosts do not know yet.
    package nonisolated let localChanges = Feed<UInt64>()
    /// Rises with every change of any record, local or not; screens that show records redraw on it.
    package private(set) var refreshVersion: UInt64 = 0

    /// Marks of changes that pages show.
    package nonisolated let changes: ChangeMarks

    let repository: any SettingsRepository
    let now: @Sendable () -> HostMoment
    private let logger: Logger
    private var listeners: [@Sendable (SettingsNews) async -> Void] = []
    /// Greatest `MergeOutcome.number` so far.
    private var latest: UInt64 = 0
    /// That of the aliases which the listeners have.
    private var latestAliases: UInt64 = 0

    /// - Parameter now: the host's two clocks.
    package init(
        repository: any SettingsRepository, changes: ChangeMarks = ChangeMarks(),
        now: @escaping @Sendable () -> HostMoment, logger: Logger
    ) {
        self.changes = changes
        self.repository = repository
        self.now = now
        self.logger = logger
    }

    /// Passes each change to `listener` from now on. The author of a change waits until it has been taken in.
    package func subscribe(_ listener: @escaping @Sendable (SettingsNews) async -> Void) { listeners.append(listener) }

    // MARK: Meters

    /// A meter's present settings.
    package func read(_ meter: MeterID) async throws(GatewayError) -> StoredSettings {
        // What was reported before the reading began is in the store.
        let number = latest
        return StoredSettings(of: meter, try await record(of: meter), number: number)
    }

    /// A meter's settings as people type them.
    package func texts(of meter: MeterID) async throws(GatewayError) -> [String: String] {
        try await read(meter).texts
    }

    /// Sets what a person asks for; nil resets a setting to its default. If anything is not legal, nothing is set.
    ///
    /// - Parameters:
    ///   - profile: the model's abilities, if known.
    ///   - here: what the meters of this host are called, for a name that must be the only one.
    /// - Returns: the settings afterwards.
    package func set(
        _ changes: [String: String?], of meter: MeterID, for profile: MeterProfile?,
        beside here: [(id: MeterID, name: String?)] = []
    ) async throws(GatewayError) -> [String: String] {
        let values = try MeterSettings.values(of: changes, for: profile)
        if case .string(let name)? = values[.name] { try await check(name, of: meter, beside: here) }
        // Only a reset looks at what is there.
        let present = values.values.contains(.null) ? try await record(of: meter) : nil
        let writes = values.sorted { $0.key.rawValue < $1.key.rawValue }
            // What was never set is not reset: that would be a change for every host.
            .filter { $0.value != .null || present?.properties[$0.key.rawValue] != nil }
            .map { SettingChange(key: .settings(of: meter), property: $0.key.rawValue, value: $0.value) }
        guard !writes.isEmpty else { return try await texts(of: meter) }
        let written = try await write(writes, doing: "writing the settings of \(meter)")
        let keys = values.keys.map(\.rawValue).sorted()
        logger.info("settings changed", metadata: ["meter.id": "\(meter)", "keys": "\(keys)"])
        return written.first?.texts ?? [:]
    }

    /// A name must stand for one meter.
    private func check(
        _ name: String, of meter: MeterID, beside here: [(id: MeterID, name: String?)]
    ) async throws(GatewayError) {
        let others = try await meters(beside: here).filter { $0.id != meter }
        guard let other = others.first(where: { $0.name?.lowercased() == name.lowercased() }) else { return }
        throw GatewayError(.badRequest, "\(other.id) is called \"\(name)\" already", next: "choose another name")
    }

    /// Deletes all settings of a meter, on every host.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    package func delete(of meter: MeterID) async throws(GatewayError) -> Bool {
        guard let present = try await record(of: meter), !present.isTombstone else { return false }
        try await delete(.settings(of: meter), doing: "deleting the settings of \(meter)")
        logger.info("settings deleted", metadata: ["meter.id": "\(meter)"])
        return true
    }

    /// All meters that have settings, made here or on another host, with their names.
    ///
    /// - Parameter here: the meters of this host, which come first and are called as this says.
    package func meters(
        beside here: [(id: MeterID, name: String?)] = []
    ) async throws(GatewayError) -> [(id: MeterID, name: String?)] {
        let met = Set(here.map(\.id))
        var names: [MeterID: String?] = [:]
        for record in try await records(of: .deviceSettings, doing: "reading the settings of all meters")
        where !record.isTombstone {
            // An id with its host's name in it is kept for hosts of older versions; up-to-date ones have a copy.
            guard let id = MeterID(record.key.name), !id.isGivenByName, !met.contains(id) else { continue }
            // An older form of the name may still exist beside the present one.
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

    /// Takes in what a transaction of the store changed: screens redraw, and listeners get the values it left.
    ///
    /// - Parameter isMadeHere: whether the cloud has yet to be told. Otherwise the records came from it, in a page or in
    ///   the answer to a batch.
    /// - Returns: the settings that changed, as they are now.
    @discardableResult
    package func merged(_ outcome: MergeOutcome, isMadeHere: Bool = false) async -> [StoredSettings] {
        guard !outcome.changed.isEmpty else { return [] }
        latest = max(latest, outcome.number)
        refreshVersion += 1
        changes.mark([.zone, .host])
        refreshes.yield(refreshVersion)
        // Other hosts need not wait until it has reached a meter that is connected here.
        if isMadeHere { localChanges.yield(refreshVersion) }
        let news = news(of: outcome)
        guard !news.settings.isEmpty || news.aliases != nil else { return [] }
        for listener in listeners { await listener(news) }
        return news.settings
    }

    private func news(of outcome: MergeOutcome) -> SettingsNews {
        let settings = outcome.present.compactMap { record -> StoredSettings? in
            // What is under an older form of a name is not in force.
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

    /// Parked changes were restored, and wait to be sent.
    func restored(_ outcome: MergeOutcome) async {
        await merged(outcome, isMadeHere: true)
        guard outcome.changed.isEmpty else { return }
        changes.mark(.host)
        localChanges.yield(refreshVersion + 1)
    }

    /// Writes properties, all or none.
    @discardableResult
    func write(_ changes: [SettingChange], doing what: String) async throws(GatewayError) -> [StoredSettings] {
        guard !changes.isEmpty else { return [] }
        let moment = now()
        let outcome = try await asking(what) { [repository] in try await repository.write(changes, at: moment) }
        return await merged(outcome, isMadeHere: true)
    }

    /// Writes the properties of a record that differ; a missing one is null.
    func put(
        _ properties: [String: SettingValue], in key: RecordKey, doing what: String
    ) async throws(GatewayError) {
        let present = try await record(key, doing: what)?.properties
        let news = properties.sorted { $0.key < $1.key }.filter { $0.value != present?[$0.key]?.value ?? .null }
        try await write(news.map { SettingChange(key: key, property: $0.key, value: $0.value) }, doing: what)
    }

    /// Deletes a record on every host.
    func delete(_ key: RecordKey, doing what: String) async throws(GatewayError) {
        let moment = now()
        let outcome = try await asking(what) { [repository] in try await repository.delete(key, at: moment) }
        await merged(outcome, isMadeHere: true)
    }

    /// Tells the other hosts this host's name, if they do not know it.
    package func publish(hostName: String) async throws(GatewayError) {
        let what = "writing this host's name"
        let host = try await asking(what) { [repository] in try await repository.hostIdentity() }
        try await put(["name": .string(hostName)], in: RecordKey(type: .host, name: host.description), doing: what)
    }

    // MARK: The store

    func record(_ key: RecordKey, doing what: String) async throws(GatewayError) -> SyncRecord? {
        try await asking(what) { [repository] in try await repository.record(key) }
    }

    /// All records of a type, including tombstones.
    func records(of type: RecordType, doing what: String) async throws(GatewayError) -> [SyncRecord] {
        try await asking(what) { [repository] in try await repository.records(of: type) }
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
