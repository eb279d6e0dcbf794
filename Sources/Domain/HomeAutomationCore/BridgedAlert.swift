package struct BridgedAlert: Hashable, Sendable {
    /// Number of the rule, unique on this gateway and never reused.
    package var number: Int64
    package var meter: MeterID
    package var name: String?
    /// Condition as the user typed it.
    package var condition: String
    /// Whether the rule reports events without duration.
    package var isMomentary = false
    package var isRaised = false
    /// Number of times the alert was raised, or its event happened.
    package var count: Int64 = 0
    package var raisedAt: WallTime?
    package var clearedAt: WallTime?
    /// Value that raised the alert last.
    package var value: Double?

    package init(number: Int64, meter: MeterID, condition: String) {
        self.number = number
        self.meter = meter
        self.condition = condition
    }
}
