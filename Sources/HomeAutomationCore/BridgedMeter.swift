package import MeterModel

/// One meter as the bridge sees it at a moment.
package struct BridgedMeter: Hashable, Sendable {
    package var id: MeterID
    /// What a person calls it.
    package var name: String?
    /// As people read it: `UM25C`.
    package var model: String?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var state: ConnectionState
    package var since: WallTime
    package var isWanted: Bool
    /// Another host has it, or had it last: this one does not speak for it.
    package var isElsewhere = false
    /// Who has it: a host's name; nil means nobody, or nobody knows.
    package var holder: String?
    package var transport: String?
    /// The last thing that went wrong and has not been made good by data since.
    package var error: String?
    /// The last reading.
    package var reading: TimedReading?
    /// What its model can be told.
    package var abilities: [Ability] = []

    package init(_ id: MeterID, state: ConnectionState, since: WallTime, isWanted: Bool) {
        self.id = id
        self.state = state
        self.since = since
        self.isWanted = isWanted
    }

    /// A command of the model, and the numbers that it takes.
    package struct Ability: Hashable, Sendable {
        package var kind: MeterCommand.Kind
        /// nil means it takes none.
        package var numbers: ClosedRange<Int>?
        /// How far apart they are.
        package var step: Int

        package init(_ kind: MeterCommand.Kind, _ numbers: ClosedRange<Int>? = nil, step: Int = 1) {
            self.kind = kind
            self.numbers = numbers
            self.step = step
        }
    }

    package var hasData: Bool { state == .dataAvailable }

    /// All but the reading is the same, which comes anew several times a second.
    package func isSame(as other: BridgedMeter) -> Bool {
        id == other.id && state == other.state && since == other.since && isWanted == other.isWanted
            && isElsewhere == other.isElsewhere && holder == other.holder && error == other.error
            && transport == other.transport && name == other.name && model == other.model && serial == other.serial
            && firmware == other.firmware && hardware == other.hardware && abilities == other.abilities
    }
}
