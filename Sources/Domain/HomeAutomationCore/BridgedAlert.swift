/// One rule as the bridge sees it at one moment.
package struct BridgedAlert: Hashable, Sendable {
    /// Of this gateway, never given to another rule.
    package var number: Int64
    package var meter: MeterID
    package var name: String?
    /// As it was typed.
    package var condition: String
    /// It happens, and does not last.
    package var isMomentary = false
    package var isRaised = false
    /// How often it was raised, or happened.
    package var count: Int64 = 0
    package var raisedAt: WallTime?
    package var clearedAt: WallTime?
    /// The value that raised it last.
    package var value: Double?

    package init(number: Int64, meter: MeterID, condition: String) {
        self.number = number
        self.meter = meter
        self.condition = condition
    }
}
