package import Domain

/// A meter's settings as the store has them.
package struct StoredSettings: Hashable, Sendable {
    package let meter: MeterID
    /// The settings as people type them.
    package let texts: [String: String]
    package let settings: MeterSettings
    /// The store's transaction that left them (`MergeOutcome.number`), or a later one. Of two, the greater is in force.
    let number: UInt64

    package init(of meter: MeterID, _ record: SyncRecord?, number: UInt64) {
        self.meter = meter
        texts = MeterSettings.texts(of: record)
        settings = MeterSettings(stored: texts)
        self.number = number
    }
}

/// Changes of settings and aliases, made here or on another host.
package struct SettingsNews: Sendable {
    /// The settings that changed, as they are now.
    package var settings: [StoredSettings]
    /// The meter that each alias means, if an alias changed.
    var aliases: [MeterID: MeterID]?
}
