package import Domain

/// Driver of an Atorch meter, which pushes a report every second and accepts commands (Docs/Protocols/Atorch.md#links
/// and Docs/Protocols/Atorch.md#commands-and-replies).
///
/// A J7-C sometimes sends nothing until a key press or a command. The driver sends no command by itself, because none
/// is known to be harmless.
package struct AtorchDriver: MeterDriver {
    package let profile: MeterProfile
    private let type: AtorchReportType
    private var decoder = AtorchDecoder()
    private var breaks = BreakGuard<AtorchSuccession>()
    package var isFiltering = true
    /// Key codes for plus and minus; nil for the usual codes of the type. DC meters differ, so after each `unsupported`
    /// the next key press uses the other codes.
    private var keys: AtorchCommand.Keys?
    /// Command without a reply yet, and the number of reports since it was sent.
    private var unanswered: (command: MeterCommand, reports: Int)?

    /// Number of reports after which a reply counts as lost. Replies normally precede the next report
    /// (msillano/UD18-protocol-and-node-red).
    private static let reportsMax = 3
    /// Commands that may be sent twice. Key presses are excluded, because a second press has a different effect.
    private static let repeatable: Set<MeterCommand.Kind> = [
        .clearEnergy, .clearCharge, .clearTime, .clearAll, .screenTimeout, .price,
    ]

    /// - Parameter model: determines the bytes of commands. Models of other families are treated as USB meters.
    package init(model: ModelName) {
        type = AtorchReportType(model: model) ?? .usb
        profile = Self.profile(of: type)
    }

    /// Sends nothing. Restarts the decoder, which forgets the meter's check byte rule.
    package mutating func opening() -> [Outgoing] {
        (decoder, breaks) = (AtorchDecoder(), BreakGuard())
        (keys, unanswered) = (nil, nil)
        return []
    }

    /// Passes replies on as events; a reply with code 00, which has no meaning, as a frame.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        var (keys, unanswered, breaks) = (keys, unanswered, breaks)
        let isFiltering = isFiltering
        let isDC = type == .dc
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            if case .frame(.atorchReport(let report)) = event {
                unanswered?.reports += 1
                guard isFiltering, !report.checkMatches else { return handle(event) }
                return breaks.take(AtorchSuccession(report), as: .atorchReport(report), handle)
            }
            guard case .frame(.atorchReply(let reply)) = event else { return handle(event) }
            unanswered = nil
            if isDC, reply.outcome == .unsupported { keys = keys.other }
            handle(reply.event ?? event)
        }
        (self.keys, self.unanswered, self.breaks) = (keys, unanswered, breaks)
    }

    package mutating func sent(_ command: MeterCommand) { unanswered = (command, 0) }

    package var doubtsOutput: Bool { unanswered.map { $0.reports >= Self.reportsMax } ?? false }

    /// Repeats the unanswered command after a switch to another output, unless it is a key press.
    package mutating func outputSwitched(_ isSwitched: Bool) -> [UInt8] {
        guard isSwitched, let command = unanswered.take()?.command, Self.repeatable.contains(command.kind) else {
            unanswered = nil
            return []
        }
        // Never nil here: `encode` accepted this command.
        return AtorchCommand(command, type: type, keys: keys)?.bytes ?? []
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        guard let encoded = AtorchCommand(command, type: type, keys: keys) else {
            throw .unsupportedCommand(command.kind, model: profile.model)
        }
        return encoded.bytes
    }

    package mutating func discardPartial() -> Int { decoder.reset() }

    /// Omits `price` for a USB meter, whose report has none, and `enter` for a DC meter: on a DL24 it toggles the load,
    /// whose state no report contains.
    static func profile(of type: AtorchReportType) -> MeterProfile {
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
            commands: commands,
            counterSteps: type == .usb ? .fine : .tens,
            filters: true
        )
    }
}
