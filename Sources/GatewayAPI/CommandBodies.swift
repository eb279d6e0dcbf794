package import Domain

/// A command that a meter takes, in `GET /v1/meters/{meter}/commands`. Unknown or not applicable is null.
package struct CommandBody: Codable, Hashable, Sendable {
    /// As in `CommandRequest`.
    package var command: String
    /// The least number that it takes; null where it takes none.
    @NullCodable package var least: Int?
    @NullCodable package var greatest: Int?
    /// Legal numbers are so far apart, the least one first.
    @NullCodable package var step: Int?
    /// `destroys`, `switches` or `draws`: a person is asked before it is sent, and this is why. Null for what does no harm.
    @NullCodable package var consequence: String?
    /// The setting that keeps what this changes once: it is sent again whenever the meter is connected.
    @NullCodable package var setting: String?
    /// Whether the meter is asked afterwards if it took it, so that whoever sends it hears so.
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

/// `GET /v1/meters/{meter}/commands`: the commands that a meter takes.
package struct CommandsBody: Codable, Hashable, Sendable {
    package var meter: String
    /// Null while the model is not known, and then no command is.
    @NullCodable package var model: String?
    package var commands: [CommandBody]

    package init(meter: String, model: String?, commands: [CommandBody]) {
        self.meter = meter
        self.model = model
        self.commands = commands
    }
}
