import GatewayAPI
package import MeterModel
import SettingsCore

/// An overwritten setting: what it was, and who overwrote it.
package struct SettingLoss: Hashable, Sendable {
    /// As people type it; a property that only a newer version knows has its own name.
    package var key: String
    /// Nil if it was not set.
    package var old: String?
    /// Nil if it was reset to its default, or the record was deleted.
    package var new: String?
    /// Whether all settings of the meter were deleted.
    package var wasDeleted: Bool
    /// When and where the old value was written.
    package var written: Author
    /// When and where it was overwritten.
    package var overwritten: Author

    /// Who wrote it, and when by their own (corrected) calendar.
    package struct Author: Hashable, Sendable {
        package var at: WallTime
        /// Nil if it was no host: the rebuild or the cloud's clean-up did it.
        package var host: HostID?
        /// What that host calls itself, if known.
        package var hostName: String?
        /// The host that brought it to the cloud, if that is another one: the cloud's word, not the author's.
        package var bringer: HostID?
        package var bringerName: String?
    }
}

/// A setting that somebody wrote, as far as it is known.
package struct SettingWrite: Hashable, Sendable {
    /// As people type it; nil where all settings of the meter were deleted.
    package var key: String?
    /// Nil where it was reset to its default.
    package var value: String?
    package var author: SettingLoss.Author
}

extension SettingsService {
    /// What was written of a meter's settings: what stands there now, and what the history still has. In no particular
    /// order.
    ///
    /// - Parameter limit: the most overwritten values to look at, the latest first.
    package func writes(of meter: MeterID, limit: Int = 500) async throws(GatewayError) -> [SettingWrite] {
        let losses = try await history(of: meter, limit: limit)
        let present = try await asking("reading the settings of \(meter)") { [repository] in
            try await repository.record(.settings(of: meter))
        }
        let names = try await hostNames()
        var writes: Set<SettingWrite> = []
        for (name, register) in present?.properties ?? [:] {
            let value = MeterSettings.text(of: register.value, for: MeterSettings.Key(rawValue: name))
            let author = SettingLoss.Author(register.stamp, broughtBy: register.broughtBy, names)
            writes.insert(SettingWrite(key: name, value: value, author: author))
        }
        for loss in losses {
            writes.insert(SettingWrite(key: loss.key, value: loss.old, author: loss.written))
            writes.insert(
                SettingWrite(key: loss.wasDeleted ? nil : loss.key, value: loss.new, author: loss.overwritten))
        }
        return Array(writes)
    }

    /// A meter's settings as people type them, and who wrote each of them last, those taken back to their default too.
    package func authors(
        of meter: MeterID
    ) async throws(GatewayError) -> (texts: [String: String], authors: [String: SettingLoss.Author], own: HostID) {
        let record = try await asking("reading the settings of \(meter)") { [repository] in
            try await repository.record(.settings(of: meter))
        }
        let own = try await asking("reading this host's id") { [repository] in try await repository.hostIdentity() }
        let names = try await hostNames()
        let authors = (record?.properties ?? [:]).mapValues { register in
            SettingLoss.Author(register.stamp, broughtBy: register.broughtBy, names)
        }
        return (MeterSettings.texts(of: record), authors, own)
    }

    /// The overwritten values of a meter's settings, latest first.
    ///
    /// - Parameters:
    ///   - key: limits the result to this setting; nil for all.
    ///   - limit: the most entries to return.
    package func history(
        of meter: MeterID, key: String? = nil, limit: Int = 100
    ) async throws(GatewayError) -> [SettingLoss] {
        let entries = try await asking("reading the history of \(meter)") { [repository] in
            try await repository.history(of: .settings(of: meter), property: key, limit: limit)
        }
        guard !entries.isEmpty else { return [] }
        let names = try await hostNames()
        return entries.map { SettingLoss($0.overwritten, hostNames: names) }
    }
}

extension SettingLoss {
    fileprivate init(_ value: OverwrittenValue, hostNames: [HostID: String]) {
        let setting = MeterSettings.Key(rawValue: value.property)
        key = value.property
        old = MeterSettings.text(of: value.old.value, for: setting)
        new = value.new.flatMap { MeterSettings.text(of: $0, for: setting) }
        wasDeleted = value.new == nil
        written = Author(value.old.stamp, broughtBy: value.old.broughtBy, hostNames)
        overwritten = Author(value.by, broughtBy: value.broughtBy, hostNames)
    }
}

extension SettingLoss.Author {
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
