/// One meter as the bridge sees it at one moment.
package struct BridgedMeter: Hashable, Sendable {
    package var id: MeterID
    /// The name a person gave it.
    package var name: String?
    /// As shown to people: `UM25C`.
    package var model: String?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var state: ConnectionState
    package var since: WallTime
    package var isWanted: Bool
    /// Another host has it, or had it last, so this one does not publish it.
    package var isElsewhere = false
    /// The name of the host that has it, if there is one and it is known.
    package var holder: String?
    package var transport: String?
    /// The last error since which no data came.
    package var error: String?
    /// The last reading, as programs get it (`Reading.published`).
    package var reading: TimedReading?
    /// Since when the gateway counts energy for it.
    package var countedSince: WallTime?
    /// What it tells besides readings. Published with the readings, as often as they are.
    package var told: ToldBody?
    /// The commands its model takes.
    package var abilities: [Ability] = []

    package init(_ id: MeterID, state: ConnectionState, since: WallTime, isWanted: Bool) {
        self.id = id
        self.state = state
        self.since = since
        self.isWanted = isWanted
    }

    /// A command of the model, and the numbers it takes.
    package struct Ability: Hashable, Sendable {
        package var kind: MeterCommand.Kind
        /// Nil if it takes none.
        package var numbers: ClosedRange<Int>?
        /// The difference between neighbouring numbers.
        package var step: Int

        package init(_ kind: MeterCommand.Kind, _ numbers: ClosedRange<Int>? = nil, step: Int = 1) {
            self.kind = kind
            self.numbers = numbers
            self.step = step
        }
    }

    package var hasData: Bool { state == .dataAvailable }

    /// Whether everything but the reading and what is told beside it, which change several times a second, is the same.
    package func isSame(as other: BridgedMeter) -> Bool {
        id == other.id && state == other.state && since == other.since && isWanted == other.isWanted
            && isElsewhere == other.isElsewhere && holder == other.holder && error == other.error
            && transport == other.transport && name == other.name && model == other.model && serial == other.serial
            && firmware == other.firmware && hardware == other.hardware && abilities == other.abilities
            && countedSince == other.countedSince
    }
}
