/// Something a person can ask a meter to do. Which of them a model knows, and with which numbers, its driver says.
package struct MeterCommand: Hashable, Sendable {
    package var kind: Kind
    /// The number behind the name, nil where the command takes none. Its unit is the kind's.
    package var number: Int?

    package init(_ kind: Kind, _ number: Int? = nil) {
        self.kind = kind
        self.number = number
    }

    /// The raw value is what people type: `meterctl command METER <kind> [N]`.
    package enum Kind: String, CaseIterable, Sendable {
        case nextScreen = "next-screen"
        case previousScreen = "previous-screen"
        case rotate
        /// In steps of the model: 0-5 on the UM family.
        case brightness
        /// Minutes on the UM family, 0 = never; seconds on an Atorch.
        case screenTimeout = "screen-timeout"
        case selectGroup = "select-group"
        case nextGroup = "next-group"
        case clearGroup = "clear-group"
        /// The current, in milliamperes, above which the UM family's recorder counts.
        case recordThreshold = "record-threshold"
        case clearEnergy = "clear-energy"
        case clearCharge = "clear-charge"
        case clearTime = "clear-time"
        case clearAll = "clear-all"
        case setup, enter, plus, minus
        /// The price of a kilowatt-hour in hundredths.
        case price
    }
}

extension MeterCommand: CustomStringConvertible {
    package var description: String {
        number.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue
    }
}
