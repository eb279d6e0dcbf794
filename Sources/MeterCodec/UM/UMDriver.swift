package import Domain

/// Driver of a UM24C, UM25C, UM34C or A3-B. The meter answers a one-byte request with a block. Commands are also one
/// byte and never answered (Docs/Protocols/UM.md#commands). An A3-B expects each byte inside an Atorch frame over LE
/// (moormaster/python3-um24c-ble), and unwrapped over Classic (dernasherbrezon.github.io).
package struct UMDriver: MeterDriver {
    package let profile: MeterProfile
    private let isWrapped: Bool
    private var decoder: UMDecoder

    /// - Parameter model: determines the meaning of command F3 and the available commands. Blocks contain their own
    ///   model.
    package init(model: ModelName, over transport: LinkAddress.Transport = .spp) {
        profile = Self.profile(of: model)
        isWrapped = model == .a3b && transport == .ble
        decoder = UMDecoder(expecting: Self.word(of: model))
    }

    /// Sends nothing. Starts a new decoder, because the old one accepts only one model, and another meter may be
    /// connected now. Until the link times out and is reopened, answers of another model are ignored.
    package mutating func opening() -> [Outgoing] {
        decoder = UMDecoder(expecting: Self.word(of: profile.model))
        return []
    }

    package mutating func poll() -> [UInt8] { sent(0xF0) }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder, handle)
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        // The profile's rules ensure that each sum below fits into a byte.
        let steps = (command.number ?? 0) / (command.kind == .recordThreshold ? Self.thresholdStep : 1)
        let number = UInt8(clamping: steps)
        return switch command.kind {
        case .nextScreen: sent(0xF1)
        case .rotate: sent(0xF2)
        case .nextGroup, .previousScreen: sent(0xF3)
        case .clearGroup: sent(0xF4)
        case .selectGroup: sent(0xA0 + number)
        case .recordThreshold: sent(0xB0 + number)
        case .brightness: sent(0xD0 + number)
        case .screenTimeout: sent(0xE0 + number)
        default: throw .unsupportedCommand(command.kind, model: profile.model)
        }
    }

    package mutating func discardPartial() -> Int { decoder.reset() }

    private func sent(_ byte: UInt8) -> [UInt8] { isWrapped ? UMWrapping.frame(around: byte) : [byte] }

    private static func word(of model: ModelName) -> ModelName { model == .a3b ? .um24c : model }

    /// Milliamperes in one step of the recorder's threshold.
    private static let thresholdStep = 10

    /// Returns the profile, with intervals from Docs/Protocols/UM.md#asking: the meter updates its values twice a
    /// second. A command or request less than half a second after a command may be lost.
    private static func profile(of model: ModelName) -> MeterProfile {
        var commands: [MeterProfile.CommandRule] = [
            .init(.nextScreen), .init(.rotate), .init(.clearGroup), .init(.brightness, 0...5),
            .init(.screenTimeout, 0...9), .init(.recordThreshold, 0...300, step: thresholdStep),
        ]
        if model == .um24c || model == .a3b {
            commands.append(.init(.nextGroup))
        } else {
            commands += [.init(.previousScreen), .init(.selectGroup, 0...9)]
        }
        return MeterProfile(
            model: model,
            rhythm: .poll(interval: .milliseconds(500), shortest: .milliseconds(100)),
            // An A3-B's first answer took 4.5 s (dernasherbrezon.github.io).
            answerTimeout: .seconds(model == .a3b ? 6 : 2),
            commandSpacing: .milliseconds(500),
            baudRate: 115_200,
            commands: commands
        )
    }
}
