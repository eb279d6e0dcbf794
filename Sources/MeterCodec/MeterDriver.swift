package import Domain

/// The host's side of the conversation with a meter: what to send, and what the answers mean. One value per link.
///
/// A driver holds protocol state (request ids, a stream's keep-alive) and nothing else: no time, no retries, no link.
/// The caller decides when to ask and how long to wait, by the numbers in `profile`.
package protocol MeterDriver: Sendable {
    var profile: MeterProfile { get }
    /// What to send once the line is up, in order.
    mutating func opening() -> [Outgoing]
    /// The request for the next reading. Empty for a meter that pushes by itself and needs no keep-alive.
    mutating func poll() -> [UInt8]
    /// Takes received bytes and reports what they mean, in order.
    mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void)
    /// The bytes of a command.
    mutating func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8]
    /// The bytes of a command went out.
    mutating func sent(_ command: MeterCommand)
    /// Whether nothing shows that what was sent reaches the meter, so that another way to its line is to be tried.
    var doubtsOutput: Bool { get }
    /// The other way was tried, if there is one.
    ///
    /// - Parameter isSwitched: whether there is one, which is used from now on.
    /// - Returns: what to send again over it.
    mutating func outputSwitched(_ isSwitched: Bool) -> [UInt8]
    /// What to send before the link is closed, so that the meter is left in a clean state.
    mutating func closing() -> [Outgoing]
    /// Discards a partial frame whose rest is overdue, and returns the number of discarded bytes.
    mutating func discardPartial() -> Int
    /// The temperature unit set in the meter's menu, for a model whose answers do not say it. Readings are in Celsius.
    var temperatureUnit: TemperatureUnit { get set }
    /// Whether single values that the meter cannot have measured are left out (`MeterEvent.filtered`), for a model that sends
    /// such (`MeterProfile.filters`).
    var isFiltering: Bool { get set }
    /// The rate at which the meter is to sample by its own clock, one of the profile's `rates`; nil for none. May change at
    /// any time: the next polls see to it.
    var wantedRate: Int? { get set }
    /// How it samples now. May change with each answer, and with each one that does not come.
    var sampling: MeterSampling { get }
}

/// Bytes to send, and how long to leave the line idle afterwards.
package struct Outgoing: Hashable, Sendable {
    package var bytes: [UInt8]
    package var pause: Duration

    package init(_ bytes: [UInt8], pause: Duration = .zero) {
        self.bytes = bytes
        self.pause = pause
    }
}

/// The meaning of bytes from a meter.
package enum MeterEvent: Sendable {
    /// A good frame. It counts as a valid answer; the caller takes its readings.
    case frame(Frame)
    /// A frame came that breaks with the last. It answers a request, and its readings wait for the next one.
    case held
    /// The frame that was held is right: its readings are told with the moment at which it came.
    case confirmed(Frame)
    /// The meter confirmed that it carried out a command.
    case acknowledged
    /// The meter refused a command.
    case rejected
    /// The meter says that it is as this command sets it, whoever sent that.
    case readBack(MeterCommand)
    /// A driver that had to find out which meter this is has done so: the driver of this model takes over.
    case identified(ModelName)
    /// Bytes that were skipped to find the next frame.
    case skipped(count: Int, because: CodecError)
    /// Number of samples that the meter cannot have measured, although nothing else is wrong with their frame. The next frame
    /// holds a neighbour's value instead, or none.
    case filtered(samples: Int)
}

/// What is fixed for a model: its rhythm and its capabilities. Durations are from the family's page in Docs/Protocols.
package struct MeterProfile: Sendable {
    package var model: ModelName
    package var rhythm: Rhythm
    /// How long an answer may take before the request counts as lost.
    package var answerTimeout: Duration
    /// How long the line is left idle before and after a command, so that neither is lost.
    package var commandSpacing: Duration
    /// The bit rate for a real serial line. Pseudo-terminals and USB CDC ignore it.
    package var baudRate: Int
    /// The commands that the model knows, and the numbers they take; `resetEnergy`, which no meter is sent, is for all.
    package var commands: [CommandRule]
    /// How finely the meter tells its own counters over this kind of link, if it has any.
    package let counterSteps: CounterSteps
    /// Whether single values may be left out (`MeterDriver.isFiltering`).
    package let filters: Bool
    /// Samples a second that the meter can take by its own clock, rising; empty if it cannot.
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
        /// The meter answers each request. It is asked every `interval` unless a person set another, never below
        /// `shortest`.
        case poll(interval: Duration, shortest: Duration)
        /// The meter answers each request with a part of a reading. One is sent every `step`, and a reading comes about
        /// every `expected`.
        case rounds(expected: Duration, step: Duration)
        /// The meter pushes about every `expected`; `poll()` is sent every `keepAlive`, if set.
        case push(expected: Duration, keepAlive: Duration?)
    }

    /// A command of this model. `numbers` is nil if it takes no number; otherwise the numbers that are `step` apart are
    /// legal, starting with the first.
    package struct CommandRule: Hashable, Sendable {
        package var kind: MeterCommand.Kind
        package var numbers: ClosedRange<Int>?
        /// 1 or more.
        package let step: Int
        /// Whether the meter can be asked afterwards if it took the command (`MeterEvent.readBack`).
        package let isReadBack: Bool

        package init(
            _ kind: MeterCommand.Kind, _ numbers: ClosedRange<Int>? = nil, step: Int = 1, isReadBack: Bool = false
        ) {
            self.kind = kind
            self.numbers = numbers
            self.step = max(1, step)
            self.isReadBack = isReadBack
        }

        /// Whether the command takes this number, or nil for no number.
        package func allows(_ number: Int?) -> Bool {
            guard let numbers, let number else { return numbers == nil && number == nil }
            return numbers.contains(number) && (number - numbers.lowerBound).isMultiple(of: step)
        }
    }

    /// Checks a command against the model's rules.
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
    /// For meters that push without being asked.
    package mutating func poll() -> [UInt8] { [] }

    /// For models without commands: refuses each.
    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        throw .unsupportedCommand(command.kind, model: profile.model)
    }

    package mutating func sent(_ command: MeterCommand) {}

    /// For meters that everybody writes to in one way.
    package var doubtsOutput: Bool { false }
    package mutating func outputSwitched(_ isSwitched: Bool) -> [UInt8] { [] }

    /// For meters that are clean however a link ends.
    package mutating func closing() -> [Outgoing] { [] }

    /// For models that always report Celsius.
    package var temperatureUnit: TemperatureUnit {
        get { .celsius }
        set {}
    }

    /// For models whose values are shown as they come.
    package var isFiltering: Bool {
        get { false }
        set {}
    }

    /// For models without a clock of their own.
    package var wantedRate: Int? {
        get { nil }
        set {}
    }

    package var sampling: MeterSampling { MeterSampling() }

    /// Takes every step that a decoder has and passes it on: the core of every driver's `receive`.
    package static func drain(_ decoder: inout some FrameDecoder, _ handle: (MeterEvent) -> Void) {
        while let step = decoder.next() {
            switch step {
            case .frame(let frame): handle(.frame(frame))
            case .skipped(let count, let error): handle(.skipped(count: count, because: error))
            }
        }
    }
}
