package import MeterModel

/// Talks to a TC66 or TC66C over USB: `getva` asks, three encrypted pieces answer, page commands are never answered
/// (protocols.md 2.1). `update` would start the loader and is in no table here.
package struct TC66Driver: MeterDriver {
    package let profile: MeterProfile
    private var decoder: TC66Decoder

    /// - Parameter temperatureUnit: the unit set on the meter, which the wire does not carry.
    package init(model: ModelName, temperatureUnit: TemperatureUnit = .celsius) {
        profile = Self.profile(of: model)
        decoder = TC66Decoder(temperatureUnit: temperatureUnit)
    }

    /// Asks which program runs, so that a meter that sits in its loader says so and is not merely silent.
    package mutating func opening() -> [Outgoing] {
        [Outgoing(TC66Request.query.bytes, pause: .milliseconds(100))]
    }

    package mutating func poll() -> [UInt8] { TC66Request.values.bytes }

    /// The answer `firm` comes out as acknowledged and `boot` as rejected: neither carries a reading.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            switch event {
            case .frame(.tc66(.mode(.firmware))): handle(.acknowledged)
            case .frame(.tc66(.mode(.boot))): handle(.rejected)
            default: handle(event)
            }
        }
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        return switch command.kind {
        case .nextScreen: TC66Request.nextPage.bytes
        case .previousScreen: TC66Request.previousPage.bytes
        case .rotate: TC66Request.rotate.bytes
        default: throw .unsupportedCommand(command.kind, model: profile.model)
        }
    }

    package mutating func closing() -> [Outgoing] { [] }

    package mutating func discardPartial() -> Int { decoder.reset() }

    package var temperatureUnit: TemperatureUnit {
        get { decoder.temperatureUnit }
        set { decoder.temperatureUnit = newValue }
    }

    /// Rhythm from protocols.md 2.4: values renew every 80 to 100 ms, and the fastest reader asks each 100 ms. An
    /// answer takes less than 200 ms over USB and 0.8 s over the slower radio (2.2), so that 1 s is enough for either.
    private static func profile(of model: ModelName) -> MeterProfile {
        MeterProfile(
            model: model,
            rhythm: .poll(interval: .milliseconds(500), shortest: .milliseconds(100)),
            answerTimeout: .seconds(1),
            commandSpacing: .milliseconds(100),
            baudRate: 115_200,
            commands: [.init(.nextScreen), .init(.previousScreen), .init(.rotate)]
        )
    }
}

/// Everything that this gateway ever says to a TC66. The raw value is what goes over USB, without a terminator.
package enum TC66Request: String, CaseIterable, Sendable {
    case query
    case values = "getva"
    case recording = "gtrec"
    case nextPage = "nextp"
    case previousPage = "lastp"
    case rotate = "rotat"

    package var bytes: [UInt8] { Array(rawValue.utf8) }
}
