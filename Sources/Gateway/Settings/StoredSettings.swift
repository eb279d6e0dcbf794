package import Domain

package struct StoredSettings: Hashable, Sendable {
    package let meter: MeterID
    /// Settings as people type them.
    package let texts: [String: String]
    package let settings: MeterSettings
    /// `MergeOutcome.number` of the transaction that stored these settings, or of a later one. The settings with the
    /// greatest number are in force.
    let number: UInt64

    package init(of meter: MeterID, _ record: SyncRecord?, number: UInt64) {
        self.meter = meter
        texts = MeterSettings.texts(of: record)
        settings = MeterSettings(stored: texts)
        self.number = number
    }
}

package struct SettingsNews: Sendable {
    package var settings: [StoredSettings]
    /// Nil if no alias changed.
    var aliases: [MeterID: MeterID]?
}
