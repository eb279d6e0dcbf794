import GatewayAPI
package import MeterModel
import SettingsCore

/// A setting that was overwritten: what it was, and who did it.
package struct SettingLoss: Hashable, Sendable {
    /// As people type it; a property that only a newer version knows has its own name.
    package var key: String
    /// nil means it was not set.
    package var old: String?
    /// nil means it was taken back to its default, or the record was deleted.
    package var new: String?
    /// All settings of the meter were deleted.
    package var wasDeleted: Bool
    /// When and where the old value was written.
    package var written: Author
    /// When and where it was overwritten.
    package var overwritten: Author

    /// Who wrote, and when by their own (corrected) calendar.
    package struct Author: Hashable, Sendable {
        package var at: WallTime
        /// nil means nobody; the rebuild or the cloud's clean-up did it.
        package var host: HostID?
        /// As that host calls itself; nil means nobody told.
        package var hostName: String?
        /// The host that brought it to the cloud, where that is another one: the cloud's word, and not the author's.
        package var bringer: HostID?
        package var bringerName: String?
    }
}

extension SettingsService {
    /// What was overwritten of a meter's settings, the latest first.
    ///
    /// - Parameters:
    ///   - key: of this setting only; nil means of all.
    ///   - limit: at most so many.
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
        // Neither all zeros nor all ones is a UUID that a host draws.
        let isNobody = stamp.isLifted || stamp.host.high == 0
        host = isNobody ? nil : stamp.host
        hostName = isNobody ? nil : hostNames[stamp.host]
        bringer = broughtBy
        bringerName = broughtBy.flatMap { hostNames[$0] }
    }
}
