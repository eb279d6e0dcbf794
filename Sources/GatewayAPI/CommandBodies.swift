package import Domain

package struct CommandBody: Codable, Hashable, Sendable {
    package var command: String
    /// Null for a command without a number.
    @NullCodable package var least: Int?
    @NullCodable package var greatest: Int?
    /// Distance between legal numbers, counted from `least`.
    @NullCodable package var step: Int?
    /// Reason to ask the user for confirmation: `destroys`, `switches`, `draws` or `supplies`. Null for a harmless command.
    @NullCodable package var consequence: String?
    /// Setting with the same effect, which meterd sends again at each connect.
    @NullCodable package var setting: String?
    /// Whether meterd verifies the effect on the meter.
    package var confirmed: Bool

    package init(
        _ kind: MeterCommand.Kind, numbers: ClosedRange<Int>?, step: Int, setting: String?, confirmed: Bool = false
    ) {
        command = kind.rawValue
        least = numbers?.lowerBound
        greatest = numbers?.upperBound
        self.step = numbers.map { _ in step }
        consequence = kind.consequence?.rawValue
        self.setting = setting
        self.confirmed = confirmed
    }
}

/// `GET /v1/meters/{meter}/commands`.
package struct CommandsBody: Codable, Hashable, Sendable {
    package var meter: String
    /// Null while the model is unknown; `commands` is then empty.
    @NullCodable package var model: String?
    package var commands: [CommandBody]

    package init(meter: String, model: String?, commands: [CommandBody]) {
        self.meter = meter
        self.model = model
        self.commands = commands
    }
}
