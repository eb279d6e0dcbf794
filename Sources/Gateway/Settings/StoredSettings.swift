package import MeterModel
import SettingsCore

/// What is set for a meter, as it was read from the store.
package struct StoredSettings: Hashable, Sendable {
    /// As people type it.
    package let texts: [String: String]
    package let settings: MeterSettings
    /// Rises with each reading: of two under way, the one that began later has what the other may lack.
    let number: UInt64

    init(_ record: SyncRecord?, number: UInt64) {
        texts = MeterSettings.texts(of: record)
        settings = MeterSettings(stored: texts)
        self.number = number
    }
}

/// What of meters is not as it was, whoever changed it, here or on another host.
package struct SettingsNews: Hashable, Sendable {
    /// Meters whose settings changed.
    package var meters: [MeterID]
    /// What is set for them now, as far as it was read already.
    package var read: [MeterID: StoredSettings]
    /// Another id of a meter was learned, or parted from it.
    package var aliasesChanged: Bool

    package init(of meters: [MeterID], read: [MeterID: StoredSettings] = [:], aliasesChanged: Bool = false) {
        self.meters = meters
        self.read = read
        self.aliasesChanged = aliasesChanged
    }
}
