package import MeterModel

/// Listens to an Atorch meter, which pushes a report a second by itself, and tells it what a person wants
/// (Docs/Protocols/Atorch.md#links and Docs/Protocols/Atorch.md#commands-and-replies).
///
/// A J7-C sometimes says nothing before a key press or a command. Which command would do no harm is not known, so none
/// is sent unasked.
package struct AtorchDriver: MeterDriver {
    package let profile: MeterProfile
    private let type: AtorchReportType
    private var decoder = AtorchDecoder()
    /// Which plus and minus the meter has. DC meters differ: each `unsupported` from one makes the next press use the
    /// other pair.
    private var keys: AtorchCommand.Keys?

    /// - Parameter model: decides what goes into commands; reports are read by the type they name. A model of another
    ///   family counts as a USB meter.
    package init(model: ModelName) {
        type = AtorchReportType(model: model) ?? .usb
        profile = Self.profile(of: type)
    }

    /// The meter needs to hear nothing. What the decoder has learned of its check byte is that of the last link.
    package mutating func opening() -> [Outgoing] {
        decoder = AtorchDecoder()
        keys = nil
        return []
    }

    package mutating func poll() -> [UInt8] { [] }

    /// A reply becomes what it says. One that says nothing is handed on as a frame.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        var keys = keys
        let isDC = type == .dc
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            guard case .frame(.atorchReply(let reply)) = event else { return handle(event) }
            if isDC, reply.outcome == .unsupported { keys = keys == .first ? .second : .first }
            switch reply.outcome {
            case .done: handle(.acknowledged)
            case .failed, .unsupported, .wrongClass, .malformed, .unknown: handle(.rejected)
            case .undefined: handle(event)
            }
        }
        self.keys = keys
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        guard let encoded = AtorchCommand(command, type: type, keys: keys) else {
            throw .unsupportedCommand(command.kind, model: profile.model)
        }
        return encoded.bytes
    }

    package mutating func closing() -> [Outgoing] { [] }

    package mutating func discardPartial() -> Int { decoder.reset() }

    /// A USB meter has no price: its report has no field for one. A DC meter has no `enter`: on a DL24 its byte is the
    /// button that switches the load on or off, whichever it is not, and no report says which that is.
    private static func profile(of type: AtorchReportType) -> MeterProfile {
        var commands: [MeterProfile.CommandRule] = [
            .init(.clearEnergy), .init(.clearCharge), .init(.clearTime), .init(.clearAll), .init(.setup),
            .init(.plus), .init(.minus), .init(.screenTimeout, 0...60),
        ]
        if type != .dc { commands.append(.init(.enter)) }
        if type != .usb { commands.append(.init(.price, 0...99_999)) }
        return MeterProfile(
            model: type.model,
            rhythm: .push(expected: .seconds(1), keepAlive: nil),
            answerTimeout: .seconds(3),
            baudRate: 9600,
            commands: commands
        )
    }
}
