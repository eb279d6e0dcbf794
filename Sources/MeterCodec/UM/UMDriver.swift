package import MeterModel

/// Talks to a UM24C, UM25C or UM34C: one byte asks, a block answers, commands are one byte and never answered
/// (protocols.md 1.2).
package struct UMDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = UMDecoder()

    /// - Parameter model: decides what F3 means and which commands exist; blocks are read by their own model word.
    package init(model: ModelName) {
        profile = Self.profile(of: model)
    }

    package mutating func opening() -> [Outgoing] { [] }

    package mutating func poll() -> [UInt8] { [0xF0] }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder, handle)
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        let number = UInt8(clamping: command.number ?? 0)
        return switch command.kind {
        case .nextScreen: [0xF1]
        case .rotate: [0xF2]
        case .nextGroup, .previousScreen: [0xF3]
        case .clearGroup: [0xF4]
        case .selectGroup: [0xA0 + min(number, 9)]
        case .recordThreshold: [0xB0 + UInt8(clamping: (command.number ?? 0) / 10)]
        case .brightness: [0xD0 + min(number, 5)]
        case .screenTimeout: [0xE0 + min(number, 9)]
        default: throw .unsupportedCommand(command.kind, model: profile.model)
        }
    }

    package mutating func closing() -> [Outgoing] { [] }

    package mutating func discardPartial() -> Int { decoder.reset() }

    /// Rhythm from protocols.md 1.5: the meter renews its values twice a second; commands closer than half a second
    /// apart may be lost, and so may a request that follows one.
    private static func profile(of model: ModelName) -> MeterProfile {
        var commands: [MeterProfile.CommandRule] = [
            .init(.nextScreen), .init(.rotate), .init(.clearGroup), .init(.brightness, 0...5),
            .init(.screenTimeout, 0...9), .init(.recordThreshold, 0...300),
        ]
        if model == .um24c {
            commands.append(.init(.nextGroup))
        } else {
            commands += [.init(.previousScreen), .init(.selectGroup, 0...9)]
        }
        return MeterProfile(
            model: model,
            rhythm: .poll(interval: .milliseconds(500), shortest: .milliseconds(100)),
            answerTimeout: .seconds(2),
            commandSpacing: .milliseconds(500),
            baudRate: 115_200,
            commands: commands
        )
    }
}
