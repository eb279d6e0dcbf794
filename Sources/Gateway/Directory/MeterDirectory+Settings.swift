package import Domain
package import GatewayAPI

extension MeterDirectory {
    /// Returns the meter with this name or id among this host's meters, meters with settings, and other hosts' meters.
    package func meter(_ reference: String) async throws(GatewayError) -> MeterID {
        if let id = MeterID(reference), meters.session(of: id) != nil { return id }
        if let exact = exactly(reference) { return exact }
        let known = try await allNames()
        do {
            return try MeterReference.resolve(reference, among: known, models: models)
        } catch {
            // The name may belong to a meter known only from another host's lease.
            guard error.code == .noSuchMeter else { throw error }
            return try await resolve(reference, amongLeasedAnd: known)
        }
    }

    /// Like `meter`, but accepts the complete id of an unknown meter.
    package func anyMeter(_ reference: String) async throws(GatewayError) -> MeterID {
        do throws(GatewayError) {
            return try await meter(reference)
        } catch {
            guard error.code == .noSuchMeter, let id = MeterID(reference), !id.isLocalOnly else { throw error }
            return id
        }
    }

    package func settingsInDetail(of reference: String) async throws(GatewayError) -> SettingsBody {
        let id = try await meter(reference)
        let (texts, authors, own) = try await dependencies.settings.authors(of: id)
        let session = meters.session(of: id)
        let model = await session?.shownModel?.displayName
        let details = MeterSettings.bodies(
            texts, by: authors, own: own, for: await profile(of: id, model: model),
            deviceName: await session?.deviceName)
        return SettingsBody(settings: texts, known: MeterSettings.Key.allCases.map(\.rawValue), details: details)
    }

    /// Changes a meter's settings. A connected meter applies them immediately. Only the meter's own host detects values
    /// that its model does not support.
    package func set(_ changes: [String: String?], for reference: String) async throws(GatewayError) -> SettingsBody {
        let id = try await anyMeter(reference)
        let profile = await meters.session(of: id)?.profile
        let texts = try await dependencies.settings.set(changes, of: id, for: profile, beside: names)
        let once = changes.filter { $0.value != nil }.compactMap { key, _ in
            MeterSettings.Key(rawValue: key)?.command.map { (key, $0.rawValue) }
        }
        return SettingsBody(
            settings: texts, once: once.isEmpty ? nil : Dictionary(uniqueKeysWithValues: once),
            stays_here: dependencies.gate?.role == .readOnly ? true : nil)
    }

    var names: [(id: MeterID, name: String?)] {
        var names: [(id: MeterID, name: String?)] = []
        forEach { names.append(($0.id, $0.displayName)) }
        return names
    }

    var models: [MeterID: String] {
        var models: [MeterID: String] = [:]
        forEach { models[$0.id] = $0.shownModel?.displayName }
        return models
    }

    func allNames() async throws(GatewayError) -> [(id: MeterID, name: String?)] {
        try await dependencies.settings.meters(beside: names)
    }

    // MARK: What changed

    func hear(_ news: SettingsNews) async {
        for settings in news.settings { await meters.session(of: settings.meter)?.adopt(settings) }
        if let shared = news.aliases { await aliasesChanged(shared) }
        dependencies.computed?.refresh()
    }
}
