/// State of a meter for the bridge at one moment.
package struct BridgedMeter: Hashable, Sendable {
    package var id: MeterID
    /// Name given by a user.
    package var name: String?
    /// Name of the model for users: `UM25C`.
    package var model: String?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var state: ConnectionState
    package var since: WallTime
    package var isWanted: Bool
    /// Whether another host holds the meter, or held it last. If so, this host does not publish the meter.
    package var isElsewhere = false
    /// Name of the other host that holds the meter; nil if there is none or the name is unknown.
    package var holder: String?
    package var transport: String?
    /// Last error; nil after the next reading.
    package var error: String?
    /// Last reading, in the form of `Reading.published`.
    package var reading: TimedReading?
    /// Start of the gateway's energy count.
    package var countedSince: WallTime?
    /// Telemetry other than readings, published together with readings.
    package var told: TelemetryBody?
    package var abilities: [Ability] = []

    package init(_ id: MeterID, state: ConnectionState, since: WallTime, isWanted: Bool) {
        self.id = id
        self.state = state
        self.since = since
        self.isWanted = isWanted
    }

    package struct Ability: Hashable, Sendable {
        package var kind: MeterCommand.Kind
        /// Range of numbers that the command accepts; nil if it accepts no number.
        package var numbers: ClosedRange<Int>?
        /// Difference between neighbouring numbers.
        package var step: Int

        package init(_ kind: MeterCommand.Kind, _ numbers: ClosedRange<Int>? = nil, step: Int = 1) {
            self.kind = kind
            self.numbers = numbers
            self.step = step
        }
    }

    package var hasData: Bool { state == .dataAvailable }

    /// Returns whether two states are equal except for the reading and the telemetry, which change several times a
    /// second.
    package func isSame(as other: BridgedMeter) -> Bool {
        id == other.id && state == other.state && since == other.since && isWanted == other.isWanted
            && isElsewhere == other.isElsewhere && holder == other.holder && error == other.error
            && transport == other.transport && name == other.name && model == other.model && serial == other.serial
            && firmware == other.firmware && hardware == other.hardware && abilities == other.abilities
            && countedSince == other.countedSince
    }
}
