package struct BridgedAlert: Hashable, Sendable {
    /// Unique on this gateway and never reused.
    package var number: Int64
    package var meter: MeterID
    package var name: String?
    /// As the user typed it.
    package var condition: String
    /// Whether the rule reports events without duration.
    package var isMomentary = false
    package var isRaised = false
    package var count: Int64 = 0
    package var raisedAt: WallTime?
    package var clearedAt: WallTime?
    package var value: Double?

    package init(number: Int64, meter: MeterID, condition: String) {
        self.number = number
        self.meter = meter
        self.condition = condition
    }
}
