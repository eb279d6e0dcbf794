package import Domain

/// Host's side of a meter's protocol, with one driver per open link.
///
/// A driver contains only protocol state, such as request ids. The caller owns the link, the timers and the retries,
/// and follows `profile`.
package protocol MeterDriver: Sendable {
    var profile: MeterProfile { get }
    /// Returns the bytes to send, in order, after the link has opened.
    mutating func opening() -> [Outgoing]
    /// Returns the request for the next measurement; empty if the meter needs none.
    mutating func poll() -> [UInt8]
    /// Processes received bytes and passes the events to `handle` in order.
    mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void)
    mutating func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8]
    mutating func sent(_ command: MeterCommand)
    /// Whether answers are missing, so that the driver's bytes probably do not reach the meter. The caller then tries
    /// to switch to the radio module's other writable characteristic, and calls `outputSwitched`.
    var doubtsOutput: Bool { get }
    /// Records that the caller tried to switch to the radio module's other writable characteristic.
    ///
    /// - Parameter isSwitched: false if the link has no other output.
    /// - Returns: bytes to send again.
    mutating func outputSwitched(_ isSwitched: Bool) -> [UInt8]
    /// Whether the meter supplies the measured device with a voltage.
    var isSupplying: Bool { get }
    /// Returns the bytes that switch the supply off.
    mutating func endSupply() -> [UInt8]
    /// Returns the bytes to send before the link closes, such as the end of a stream.
    mutating func closing() -> [Outgoing]
    /// Discards an incomplete frame whose rest is overdue. Returns its number of bytes.
    mutating func discardPartial() -> Int
    /// Temperature unit in the meter's menu, for a model that does not send it. Measurements are in Celsius.
    var temperatureUnit: TemperatureUnit { get set }
    /// Whether to omit impossible values (`MeterEvent.filtered`). Requires `MeterProfile.filters`.
    var isFiltering: Bool { get set }
    /// Rate in 1/s at which the meter should sample by its own clock, one of `MeterProfile.rates`; nil for one
    /// measurement per poll. Takes effect with the next polls.
    var wantedRate: Int? { get set }
    /// Current sampling rate. May change after each answer and each timeout.
    var sampling: MeterSampling { get }
}

/// Bytes to send, and the pause afterwards.
package struct Outgoing: Hashable, Sendable {
    package var bytes: [UInt8]
    package var pause: Duration

    package init(_ bytes: [UInt8], pause: Duration = .zero) {
        self.bytes = bytes
        self.pause = pause
    }
}

package enum MeterEvent: Sendable {
    case frame(Frame)
    /// A correct frame with an implausible jump of values. The driver withholds its measurements until the next frame
    /// confirms them.
    case held
    /// The frame of the preceding `held` event, confirmed by the next frame. Its measurements have the arrival time of
    /// the `held` event.
    case confirmed(Frame)
    case acknowledged
    case rejected
    /// The meter reports the state that this command sets, even if another program sent the command.
    case readBack(MeterCommand)
    /// The driver has identified the meter; the caller continues with this model's driver.
    case identified(ModelName)
    case skipped(count: Int, because: CodecError)
    /// Number of impossible samples in otherwise correct frames. The next `frame` event contains a neighbouring value
    /// instead, or none.
    case filtered(samples: Int)
}

/// Timing and capabilities of a model, from the family's page in Docs/Protocols.
package struct MeterProfile: Sendable {
    package var model: ModelName
    package var rhythm: Rhythm
    /// Duration after which a request without an answer counts as lost.
    package var answerTimeout: Duration
    /// Idle time before and after a command. Without it, the command or the next request is lost.
    package var commandSpacing: Duration
    /// Bit rate of a real serial line. Pseudo-terminals and USB CDC ignore it.
    package var baudRate: Int
    /// Commands of the model, with their legal arguments. Every model has `resetEnergy`, which the gateway executes
    /// itself.
    package var commands: [CommandRule]
    /// Resolution of the meter's own charge and energy counters over this link.
    package let counterSteps: CounterSteps
    /// Whether the driver supports `MeterDriver.isFiltering`.
    package let filters: Bool
    /// Rates in 1/s at which the meter can sample by its own clock, ascending; may be empty.
    package let rates: [Int]

    package init(
        model: ModelName, rhythm: Rhythm, answerTimeout: Duration, commandSpacing: Duration = .zero,
        baudRate: Int = 115_200, commands: [CommandRule] = [], counterSteps: CounterSteps = .fine,
        filters: Bool = false,
        rates: [Int] = []
    ) {
        self.model = model
        self.rhythm = rhythm
        self.answerTimeout = answerTimeout
        self.commandSpacing = commandSpacing
        self.baudRate = baudRate
        self.commands = commands.filter { $0.kind != .resetEnergy } + [CommandRule(.resetEnergy)]
        self.counterSteps = counterSteps
        self.filters = filters
        self.rates = rates
    }

    package enum Rhythm: Hashable, Sendable {
        /// The meter answers each request, which the caller sends every `interval`, or at the user's interval of at
        /// least `shortest`.
        case poll(interval: Duration, shortest: Duration)
        /// The meter answers each request with a part of a measurement. The caller sends one every `step`; a
        /// measurement is complete about every `expected`.
        case rounds(expected: Duration, step: Duration)
        /// The meter sends about every `expected` without a request. The caller sends `poll()` every `keepAlive`; nil
        /// means never.
        case push(expected: Duration, keepAlive: Duration?)
    }

    /// A command of this model. `numbers` is the range of legal arguments, from the first in steps of `step`; nil if
    /// the command has no argument.
    package struct CommandRule: Hashable, Sendable {
        package var kind: MeterCommand.Kind
        package var numbers: ClosedRange<Int>?
        /// Difference between successive legal arguments, 1 or more.
        package let step: Int
        /// Whether the meter later reports the state that the command sets (`MeterEvent.readBack`).
        package let isReadBack: Bool

        package init(
            _ kind: MeterCommand.Kind, _ numbers: ClosedRange<Int>? = nil, step: Int = 1, isReadBack: Bool = false
        ) {
            self.kind = kind
            self.numbers = numbers
            self.step = max(1, step)
            self.isReadBack = isReadBack
        }

        /// - Parameter number: nil for no argument.
        package func allows(_ number: Int?) -> Bool {
            guard let numbers, let number else { return numbers == nil && number == nil }
            return numbers.contains(number) && (number - numbers.lowerBound).isMultiple(of: step)
        }
    }

    package func validate(_ command: MeterCommand) throws(CodecError) {
        guard let rule = commands.first(where: { $0.kind == command.kind }) else {
            throw .unsupportedCommand(command.kind, model: model)
        }
        guard rule.allows(command.number) else {
            throw .commandNumber(command, legal: rule.numbers, step: rule.step)
        }
    }
}

extension MeterDriver {
    package mutating func poll() -> [UInt8] { [] }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        throw .unsupportedCommand(command.kind, model: profile.model)
    }

    package mutating func sent(_ command: MeterCommand) {}

    package var doubtsOutput: Bool { false }
    package mutating func outputSwitched(_ isSwitched: Bool) -> [UInt8] { [] }

    package var isSupplying: Bool { false }
    package mutating func endSupply() -> [UInt8] { [] }

    package mutating func closing() -> [Outgoing] { [] }

    package var temperatureUnit: TemperatureUnit {
        get { .celsius }
        set {}
    }

    package var isFiltering: Bool {
        get { false }
        set {}
    }

    package var wantedRate: Int? {
        get { nil }
        set {}
    }

    package var sampling: MeterSampling { MeterSampling() }

    /// Passes frames and skipped bytes to `handle` until the decoder needs more input. Part of every driver's
    /// `receive`.
    package static func drain(_ decoder: inout some FrameDecoder, _ handle: (MeterEvent) -> Void) {
        while let step = decoder.next() {
            switch step {
            case .frame(let frame): handle(.frame(frame))
            case .skipped(let count, let error): handle(.skipped(count: count, because: error))
            }
        }
    }
}
