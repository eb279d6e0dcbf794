package import Domain
package import GatewayAPI

/// Who wrote a setting, and when by their own (corrected) calendar.
package struct SettingAuthor: Hashable, Sendable {
    package var at: WallTime
    /// Nil if it was no host: the rebuild or the cloud's clean-up did it.
    package var host: HostID?
    /// What that host calls itself, if known.
    package var hostName: String?
    /// The host that brought it to the cloud, if that is another one: the cloud's word, not the author's.
    package var bringer: HostID?
    var bringerName: String?
}

/// A setting that somebody wrote, as far as it is known.
package struct SettingWrite: Hashable, Sendable {
    /// As people type it; nil where all settings of the meter were deleted.
    package var key: String?
    /// Nil where it was reset to its default.
    package var value: String?
    package var author: SettingAuthor
}

extension SettingsService {
    /// What was written of a meter's settings: what stands there now, and what the history still has. In no particular
    /// order.
    ///
    /// - Parameter limit: the most overwritten values to look at, the latest first.
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

    /// A meter's settings as people type them, and who wrote each of them last, those taken back to their default too.
    package func authors(
        of meter: MeterID
    ) async throws(GatewayError) -> (texts: [String: String], authors: [String: SettingAuthor], own: HostID) {
        let record = try await record(of: meter)
        let own = try await asking("reading this host's id") { [repository] in try await repository.hostIdentity() }
        let names = try await hostNames()
        let authors = (record?.properties ?? [:]).mapValues { SettingAuthor($0, names) }
        return (MeterSettings.texts(of: record), authors, own)
    }

    /// The overwritten values of a meter's settings, latest first.
    ///
    /// - Parameters:
    ///   - key: limits the result to this setting; nil for all.
    ///   - limit: the most entries to return.
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
        try await asking("reading the history of \(meter)") { [repository] in
            try await repository.history(of: .settings(of: meter), property: key, limit: limit).map(\.overwritten)
        }
    }
}

extension SettingValue {
    /// As people type it; nil where a setting was reset to its default.
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
        // No host draws a UUID of all zeros or all ones.
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
