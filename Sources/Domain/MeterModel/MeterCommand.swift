/// A command to a meter. The meter's driver defines the accepted commands and arguments.
package struct MeterCommand: Hashable, Sendable {
    package var kind: Kind
    /// In the unit of `kind`; nil if the command takes none.
    package var number: Int?

    package init(_ kind: Kind, _ number: Int? = nil) {
        self.kind = kind
        self.number = number
    }

    /// Users type the raw value: `meterctl command METER <kind> [N]`.
    package enum Kind: String, CaseIterable, Sendable {
        case nextScreen = "next-screen"
        case previousScreen = "previous-screen"
        case rotate
        /// In the model's steps: 0-5 on the UM family.
        case brightness
        /// Minutes on the UM family, 0 = never; seconds on Atorch meters.
        case screenTimeout = "screen-timeout"
        case selectGroup = "select-group"
        case nextGroup = "next-group"
        case clearGroup = "clear-group"
        /// Milliamperes above which the UM family's recorder counts.
        case recordThreshold = "record-threshold"
        case clearEnergy = "clear-energy"
        case clearCharge = "clear-charge"
        case clearTime = "clear-time"
        case clearAll = "clear-all"
        case setup, enter, plus, minus
        /// Per kilowatt-hour, in hundredths of the currency unit.
        case price
        case loadOn = "load-on"
        case loadOff = "load-off"
        /// In milliamperes.
        case loadCurrent = "load-current"
        /// Millivolts below which an electronic load switches itself off.
        case loadCutoff = "load-cutoff"
        /// Minutes until an electronic load switches itself off; 0 = never.
        case loadTimer = "load-timer"
        /// Switches on the supply of the measured device, with this voltage in millivolts, or changes the voltage.
        case sourceVoltage = "source-voltage"
        case sourceOff = "source-off"
        /// Resets meterd's counts for a meter without counters; not sent to the meter.
        case resetEnergy = "reset-energy"
    }
}

extension MeterCommand.Kind {
    /// Harm that a command may cause.
    package enum Consequence: String, CaseIterable, Sendable {
        /// Deletes a counter's value.
        case destroys
        /// May switch the supplied device on or off.
        case switches
        /// May make a load draw more current, for longer or to a lower voltage. Automation must not send it.
        case draws
        /// Puts a voltage on the measured device. Automation must not send it.
        case supplies

        /// Whether a person must send the command, not a broker or another program on its own.
        package var needsPerson: Bool { self == .draws || self == .supplies }
    }

    /// Harm that a user must confirm in user interfaces; nil if none. API clients need not confirm.
    ///
    /// `enter` is a menu key on most models. On loads such as a DL24 the same byte switches the load on or off, and no
    /// report shows which (Docs/Protocols/Atorch.md).
    package var consequence: Consequence? {
        switch self {
        case .clearGroup, .clearEnergy, .clearCharge, .clearTime, .clearAll, .resetEnergy: .destroys
        case .enter: .switches
        case .loadOn, .loadCurrent, .loadCutoff, .loadTimer: .draws
        case .sourceVoltage: .supplies
        case .loadOff, .sourceOff: nil
        case .nextScreen, .previousScreen, .rotate, .brightness, .screenTimeout, .selectGroup, .nextGroup,
            .recordThreshold, .setup, .plus, .minus, .price:
            nil
        }
    }
}

extension MeterCommand {
    /// Whether both are the same command with different numbers, or one switches the load on and the other off.
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
