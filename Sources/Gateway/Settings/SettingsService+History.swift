package import Domain
package import GatewayAPI

/// Author of a setting, with the time by the author's corrected system clock.
package struct SettingAuthor: Hashable, Sendable {
    package var at: WallTime
    /// Nil if the rebuild or the cloud's clean-up wrote the setting.
    package var host: HostID?
    package var hostName: String?
    /// Host that pushed the setting to the cloud, if it is not the author.
    package var bringer: HostID?
    var bringerName: String?
}

package struct SettingWrite: Hashable, Sendable {
    /// Key as people type it; nil if all settings of the meter were deleted.
    package var key: String?
    /// Nil if the setting was reset to its default.
    package var value: String?
    package var author: SettingAuthor
}

extension SettingsService {
    /// Returns the known writes of a meter's settings, in no particular order.
    ///
    /// - Parameter limit: maximum number of overwritten values, latest first.
    package func writes(of meter: MeterID, limit: Int = 500) async throws(GatewayError) -> [SettingWrite] {
        let losses = try await overwritten(of: meter, key: nil, limit: limit)
        let present = try await record(of: meter)
        let names = try await hostNames()
        var writes: Set<SettingWrite> = []
        for (name, register) in present?.properties ?? [:] {
            writes.insert(
                SettingWrite(key: name, value: register.value.text(of: name), author: SettingAuthor(register, names)))
        }
        for loss in losses {
            let (name, new) = (loss.property, loss.new)
            writes.insert(
                SettingWrite(key: name, value: loss.old.value.text(of: name), author: SettingAuthor(loss.old, names)))
            writes.insert(
                SettingWrite(
                    key: new == nil ? nil : name, value: new?.text(of: name),
                    author: SettingAuthor(loss.by, broughtBy: loss.broughtBy, names)))
        }
        return Array(writes)
    }

    /// Returns a meter's settings and the last author of each, even if reset.
    package func authors(
        of meter: MeterID
    ) async throws(GatewayError) -> (texts: [String: String], authors: [String: SettingAuthor], own: HostID) {
        let record = try await record(of: meter)
        let own = try await GatewayError.doing("reading this host's id") { try await repository.hostIdentity() }
        let names = try await hostNames()
        let authors = (record?.properties ?? [:]).mapValues { SettingAuthor($0, names) }
        return (MeterSettings.texts(of: record), authors, own)
    }

    /// Returns overwritten values of a meter's settings, latest first.
    ///
    /// - Parameter key: nil for all settings.
    package func history(
        of meter: MeterID, key: String? = nil, limit: Int = 100
    ) async throws(GatewayError) -> [HistoryLine] {
        let losses = try await overwritten(of: meter, key: key, limit: limit)
        guard !losses.isEmpty else { return [] }
        let names = try await hostNames()
        return losses.map { loss in
            HistoryLine(
                key: loss.property, old: loss.old.value.text(of: loss.property), new: loss.new?.text(of: loss.property),
                deleted: loss.new == nil, written: .init(SettingAuthor(loss.old, names)),
                overwritten: .init(SettingAuthor(loss.by, broughtBy: loss.broughtBy, names)))
        }
    }

    private func overwritten(
        of meter: MeterID, key: String?, limit: Int
    ) async throws(GatewayError) -> [OverwrittenValue] {
        try await GatewayError.doing("reading the history of \(meter)") {
            try await repository.history(of: .settings(of: meter), property: key, limit: limit).map(\.overwritten)
        }
    }
}

extension SettingValue {
    /// Nil for a reset to the default.
    fileprivate func text(of property: String) -> String? {
        MeterSettings.text(of: self, for: MeterSettings.Key(rawValue: property))
    }
}

extension SettingAuthor {
    fileprivate init(_ register: Register, _ hostNames: [HostID: String]) {
        self.init(register.stamp, broughtBy: register.broughtBy, hostNames)
    }

    fileprivate init(_ stamp: Stamp, broughtBy: HostID?, _ hostNames: [HostID: String]) {
        at = WallTime(millisecondsSince1970: Int64(stamp.milliseconds))
        // No host has a UUID of all zeros or all ones: the rebuild or the cloud's clean-up wrote the value.
        let isNobody = stamp.isLifted || stamp.host.high == 0
        host = isNobody ? nil : stamp.host
        hostName = isNobody ? nil : hostNames[stamp.host]
        bringer = broughtBy
        bringerName = broughtBy.flatMap { hostNames[$0] }
    }
}

extension HistoryLine.Author {
    fileprivate init(_ author: SettingAuthor) {
        self.init(
            at: author.at.description, host: author.hostName, host_id: author.host?.description,
            brought_by: author.bringerName, brought_by_id: author.bringer?.description)
    }
}
