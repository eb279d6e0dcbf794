package import Domain

/// Host's side of a meter's protocol. Each open link has its own driver.
///
/// A driver contains only protocol state, such as request ids and a stream's keep-alive. It has no clock, no retries
/// and no link. The caller decides when to send and how long to wait, using `profile`.
package protocol MeterDriver: Sendable {
    var profile: MeterProfile { get }
    /// Returns the bytes to send after the link has opened, in order.
    mutating func opening() -> [Outgoing]
    /// Returns the request for the next reading; empty for a meter that pushes and needs no keep-alive.
    mutating func poll() -> [UInt8]
    /// Processes received bytes and reports the resulting events in order.
    mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void)
    mutating func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8]
    /// Records that the caller has sent a command.
    mutating func sent(_ command: MeterCommand)
    /// Whether expected answers are missing, so that the meter probably does not receive the driver's output. The
    /// caller then tries to switch the link's output and calls `outputSwitched`.
    var doubtsOutput: Bool { get }
    /// Records that the caller tried to switch the link's output.
    ///
    /// - Parameter isSwitched: whether the link has another output, which the caller uses from now on.
    /// - Returns: bytes to send again through the other output.
    mutating func outputSwitched(_ isSwitched: Bool) -> [UInt8]
    /// Returns the bytes to send before the link closes, so that the meter returns to a clean state.
    mutating func closing() -> [Outgoing]
    /// Discards an overdue partial frame and returns the number of its bytes.
    mutating func discardPartial() -> Int
    /// Temperature unit in the meter's menu, for a model that does not send it. Readings are in Celsius.
    var temperatureUnit: TemperatureUnit { get set }
    /// Whether to omit single values that the meter cannot have measured (`MeterEvent.filtered`). Requires
    /// `MeterProfile.filters`.
    var isFiltering: Bool { get set }
    /// Wanted sampling rate of the meter's own clock in 1/s, one of `MeterProfile.rates`; nil to fetch one measurement
    /// per poll. The next polls apply a change.
    var wantedRate: Int? { get set }
    /// Current state of sampling. May change after each answer and after each timeout.
    var sampling: MeterSampling { get }
}

/// Bytes to send, and the idle time of the line afterwards.
package struct Outgoing: Hashable, Sendable {
    package var bytes: [UInt8]
    package var pause: Duration

    package init(_ bytes: [UInt8], pause: Duration = .zero) {
        self.bytes = bytes
        self.pause = pause
    }
}

package enum MeterEvent: Sendable {
    /// A good frame. Counts as a valid answer; the caller uses its readings.
    case frame(Frame)
    /// A frame whose values jump from those of the last frame. Counts as an answer; its readings wait for confirmation
    /// by the next frame.
    case held
    /// The held frame, confirmed by the next frame. Its readings have the time at which the held frame arrived.
    case confirmed(Frame)
    case acknowledged
    case rejected
    /// The meter reports the state that this command sets, even if another program sent the command.
    case readBack(MeterCommand)
    /// The driver has identified the meter; the caller continues with the driver of this model.
    case identified(ModelName)
    case skipped(count: Int, because: CodecError)
    /// Number of dropped samples, which the meter cannot have measured, in otherwise good frames. The next `frame`
    /// event contains a neighbouring sample's value instead, or none.
    case filtered(samples: Int)
}

/// Timing and capabilities of a model. Durations are from the family's page in Docs/Protocols.
package struct MeterProfile: Sendable {
    package var model: ModelName
    package var rhythm: Rhythm
    /// Time after which a request without an answer counts as lost.
    package var answerTimeout: Duration
    /// Idle time before and after a command, so that neither the command nor the next request is lost.
    package var commandSpacing: Duration
    /// Bit rate of a real serial line. Pseudo-terminals and USB CDC ignore it.
    package var baudRate: Int
    /// Commands that the model supports, with their legal arguments. All models have `resetEnergy`, which is never sent
    /// to a meter.
    package var commands: [CommandRule]
    /// Resolution of the meter's own counters over this kind of link.
    package let counterSteps: CounterSteps
    /// Whether the driver can omit single values (`MeterDriver.isFiltering`).
    package let filters: Bool
    /// Sampling rates of the meter's own clock in 1/s, ascending; empty if it has none.
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
        /// The meter answers each request. A request is sent every `interval`, or at the interval that the user set,
        /// which is at least `shortest`.
        case poll(interval: Duration, shortest: Duration)
        /// The meter answers each request with a part of a reading. A request is sent every `step`; a reading is
        /// complete about every `expected`.
        case rounds(expected: Duration, step: Duration)
        /// The meter pushes about every `expected`; `poll()` is sent every `keepAlive`, if set.
        case push(expected: Duration, keepAlive: Duration?)
    }

    /// A command of this model. Legal arguments are in `numbers`, `step` apart, beginning with the first; nil if the
    /// command has no argument.
    package struct CommandRule: Hashable, Sendable {
        package var kind: MeterCommand.Kind
        package var numbers: ClosedRange<Int>?
        /// Difference between successive legal arguments, at least 1.
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

        /// Returns whether the command accepts this argument; nil means no argument.
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

    /// Passes the decoder's frames and skipped bytes to `handle` until the decoder needs more input. Common part of
    /// every driver's `receive`.
    package static func drain(_ decoder: inout some FrameDecoder, _ handle: (MeterEvent) -> Void) {
        while let step = decoder.next() {
            switch step {
            case .frame(let frame): handle(.frame(frame))
            case .skipped(let count, let error): handle(.skipped(count: count, because: error))
            }
        }
    }
}
