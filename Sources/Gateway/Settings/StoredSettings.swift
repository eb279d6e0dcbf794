package import Domain

/// A meter's settings as read from the store.
package struct StoredSettings: Hashable, Sendable {
    /// The settings as people type them.
    package let texts: [String: String]
    package let settings: MeterSettings
    /// Rises with each reading: if two are under way, the one that began later has what the other may lack.
    let number: UInt64

    init(_ record: SyncRecord?, number: UInt64) {
        texts = MeterSettings.texts(of: record)
        settings = MeterSettings(stored: texts)
        self.number = number
    }
}

/// Changes of settings and aliases, made here or on another host.
package struct SettingsNews: Hashable, Sendable {
    /// Meters whose settings changed.
    package var meters: [MeterID]
    /// Their present settings, as far as they have already been read.
    package var read: [MeterID: StoredSettings]
    /// Whether another id of a meter was learned, or parted from it.
    var aliasesChanged: Bool

    package init(of meters: [MeterID], read: [MeterID: StoredSettings] = [:], aliasesChanged: Bool = false) {
        self.meters = meters
        self.read = read
        self.aliasesChanged = aliasesChanged
    }
}
