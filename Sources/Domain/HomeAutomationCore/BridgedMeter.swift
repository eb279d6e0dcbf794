package struct BridgedMeter: Hashable, Sendable {
    package var id: MeterID
    package var name: String?
    /// Model's name for users: `UM25C`.
    package var model: String?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var state: ConnectionState
    package var since: WallTime
    package var isWanted: Bool
    /// Whether another host holds the meter, or held it last, so that this host does not publish it.
    package var isElsewhere = false
    /// Name of the other host that holds the meter; nil if none or unknown.
    package var holder: String?
    package var transport: String?
    /// Last error; nil after the next reading.
    package var error: String?
    /// Last reading, in the form of `Reading.published`.
    package var reading: TimedReading?
    /// Start of the gateway's energy count.
    package var countedSince: WallTime?
    /// Telemetry other than readings, published with them.
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
        /// Range of the command's argument; nil if it has none.
        package var numbers: ClosedRange<Int>?
        package var step: Int

        package init(_ kind: MeterCommand.Kind, _ numbers: ClosedRange<Int>? = nil, step: Int = 1) {
            self.kind = kind
            self.numbers = numbers
            self.step = step
        }
    }

    package var hasData: Bool { state == .dataAvailable }

    /// Compares everything except the reading and the telemetry, which change several times a second.
    package func isSame(as other: BridgedMeter) -> Bool {
        id == other.id && state == other.state && since == other.since && isWanted == other.isWanted
            && isElsewhere == other.isElsewhere && holder == other.holder && error == other.error
            && transport == other.transport && name == other.name && model == other.model && serial == other.serial
            && firmware == other.firmware && hardware == other.hardware && abilities == other.abilities
            && countedSince == other.countedSince
    }
}
