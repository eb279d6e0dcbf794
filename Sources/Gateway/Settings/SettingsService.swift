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
    /// Number of times that settings were read so far.
    private var readings: UInt64 = 0

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
        readings += 1
        let number = readings
        return StoredSettings(try await record(of: meter), number: number)
    }

    /// A meter's settings as people type them.
    package func texts(of meter: MeterID) async throws(GatewayError) -> [String: String] {
        try await read(meter).texts
    }

    /// Sets what a person asks for; nil resets a setting to its default. If anything is not legal, nothing is set.
    ///
    /// - Parameters:
    ///   - profile: the model's abilities, if known.
    ///   - checkName: may refuse a meter's name; called once everything is known to be legal.
    /// - Returns: the settings afterwards.
    package func set(
        _ changes: [String: String?], of meter: MeterID, for profile: MeterProfile?,
        checkName: @Sendable (String) async throws(GatewayError) -> Void = { _ in }
    ) async throws(GatewayError) -> [String: String] {
        let values = try MeterSettings.values(of: changes, for: profile)
        if case .string(let name)? = values[.name] { try await checkName(name) }
        // Only a reset looks at what is there.
        let present = values.values.contains(.null) ? try await record(of: meter) : nil
        let writes = values.sorted { $0.key.rawValue < $1.key.rawValue }
            // What was never set is not reset: that would be a change for every host.
            .filter { $0.value != .null || present?.properties[$0.key.rawValue] != nil }
            .map { SettingChange(key: .settings(of: meter), property: $0.key.rawValue, value: $0.value) }
        guard !writes.isEmpty else { return try await texts(of: meter) }
        let moment = now()
        let outcome = try await asking("writing the settings of \(meter)") { [repository] in
            try await repository.write(writes, at: moment)
        }
        let keys = values.keys.map(\.rawValue).sorted()
        logger.info("settings changed", metadata: ["meter.id": "\(meter)", "keys": "\(keys)"])
        // Other hosts need not wait until it has reached a meter that is connected here.
        refresh(outcome, isMadeHere: true)
        // It is written: listeners are told even if it cannot be read back.
        do throws(GatewayError) {
            let stored = try await read(meter)
            await tell(outcome, read: [meter: stored])
            return stored.texts
        } catch {
            await tell(outcome)
            throw error
        }
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
    package func meters() async throws(GatewayError) -> [(id: MeterID, name: String?)] {
        let records = try await asking("reading the settings of all meters") { [repository] in
            try await repository.records(of: .deviceSettings)
        }
        var names: [MeterID: String?] = [:]
        for record in records where !record.isTombstone {
            // An id with its host's name in it is kept for hosts of older versions; up-to-date ones have a copy.
            guard let id = MeterID(record.key.name), !id.isGivenByName else { continue }
            // An older form of the name may still exist beside the present one.
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

    // MARK: Changes

    /// Records were written here, by a person or by the rebuild.
    func wrote(_ outcome: MergeOutcome) async {
        refresh(outcome, isMadeHere: true)
        await tell(outcome)
    }

    /// Parked changes were restored, and wait to be sent.
    func restored(_ outcome: MergeOutcome) async {
        guard outcome.changed.isEmpty else { return await wrote(outcome) }
        changes.mark(.host)
        localChanges.yield(refreshVersion + 1)
    }

    /// Records from the cloud were merged, from a page or from the answer to a batch.
    package func merged(_ outcome: MergeOutcome) async {
        refresh(outcome, isMadeHere: false)
        await tell(outcome)
    }

    /// Has screens redraw, and the cloud told of what was made here.
    private func refresh(_ outcome: MergeOutcome, isMadeHere: Bool) {
        guard !outcome.changed.isEmpty else { return }
        refreshVersion += 1
        changes.mark([.zone, .host])
        refreshes.yield(refreshVersion)
        if isMadeHere { localChanges.yield(refreshVersion) }
    }

    /// Tells the listeners.
    ///
    /// - Parameter read: the present settings, as far as they have been read since.
    private func tell(_ outcome: MergeOutcome, read: [MeterID: StoredSettings] = [:]) async {
        var (meters, seen) = ([MeterID](), Set<MeterID>())
        for key in outcome.changed where key.type == .deviceSettings {
            guard let meter = MeterID(key.name), seen.insert(meter).inserted else { continue }
            meters.append(meter)
        }
        let news = SettingsNews(
            of: meters, read: read, aliasesChanged: outcome.changed.contains { $0.type == .meterAlias })
        guard !news.meters.isEmpty || news.aliasesChanged else { return }
        for listener in listeners { await listener(news) }
    }

    // MARK: This host

    /// Tells the other hosts this host's name, if they do not know it.
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
