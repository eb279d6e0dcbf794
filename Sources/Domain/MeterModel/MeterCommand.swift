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
        case loadOn = "load-on"
        case loadOff = "load-off"
        /// What an electronic load draws, in milliamperes.
        case loadCurrent = "load-current"
        /// Below how many millivolts an electronic load switches itself off.
        case loadCutoff = "load-cutoff"
        /// After how many minutes an electronic load switches itself off; 0 = never.
        case loadTimer = "load-timer"
        /// What this program has counted for a meter that counts nothing begins anew. It is not sent to the meter.
        case resetEnergy = "reset-energy"
    }
}

extension MeterCommand.Kind {
    /// What cannot be taken back, or may do harm where nobody looks.
    package enum Consequence: String, CaseIterable, Sendable {
        /// Something that was counted is gone.
        case destroys
        /// Whatever is supplied through the meter may be switched on or off.
        case switches
        /// More current may be drawn from what is connected, for longer, or down to a lower voltage. Not for automation to do.
        case draws
    }

    /// Why a person is asked before this is sent; nil for what does no harm.
    ///
    /// The one place that says so, for the command line, the page and whoever else asks. The API's own clients are
    /// programs, which are not asked. `enter` is a key of a menu on most models; on loads such as a DL24 the same byte
    /// switches the load, and no report says which way (Docs/Protocols/Atorch.md).
    package var consequence: Consequence? {
        switch self {
        case .clearGroup, .clearEnergy, .clearCharge, .clearTime, .clearAll, .resetEnergy: .destroys
        case .enter: .switches
        case .loadOn, .loadCurrent, .loadCutoff, .loadTimer: .draws
        case .loadOff: nil
        case .nextScreen, .previousScreen, .rotate, .brightness, .screenTimeout, .selectGroup, .nextGroup,
            .recordThreshold, .setup, .plus, .minus, .price:
            nil
        }
    }
}

extension MeterCommand {
    /// Whether a meter cannot be as both say: the same command with another number, or on and off.
    package func contradicts(_ other: MeterCommand) -> Bool {
        guard self != other else { return false }
        let switches: Set<Kind> = [.loadOn, .loadOff]
        return kind == other.kind || (switches.contains(kind) && switches.contains(other.kind))
    }
}

extension MeterCommand: CustomStringConvertible {
    package var description: String {
        number.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue
    }
}
