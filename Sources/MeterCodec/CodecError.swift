package import Domain

/// Reason why bytes are not a frame, or a command cannot be encoded.
package enum CodecError: Error, Hashable, Sendable {
    /// `found` is the byte in the place of a start mark or model word.
    case noStartMark(found: UInt8)
    case unknownModel(word: UInt32)
    case wrongCheck(expected: UInt32, found: UInt32)
    /// No frame of the protocol has this length or count field.
    case impossibleLength(Int)
    /// The meter cannot measure or send the value of the field at byte `offset` of the frame.
    case implausibleField(offset: Int)
    /// The rest of a frame did not arrive in time.
    case truncated(have: Int)
    /// An answer without a pending request. Answers do not name their request.
    case unasked
    /// The meter answers no query, so the driver could not check the command's effect.
    case unanswering(MeterCommand.Kind)
    case unsupportedCommand(MeterCommand.Kind, model: ModelName)
    /// The user has not allowed meters to supply a voltage.
    case noVoltageLimit
    /// The command does not accept this value. Legal values are `step` apart; `legal` is nil for a command without a
    /// value.
    case commandNumber(MeterCommand, legal: ClosedRange<Int>?, step: Int = 1)
}

extension CodecError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noStartMark(let found): "no frame starts with byte \(Hex.encode([found]))"
        case .unknownModel(let word): "unknown model word \(String(word, radix: 16))"
        case .wrongCheck(let expected, let found):
            "check sum \(String(found, radix: 16)) where \(String(expected, radix: 16)) was computed"
        case .impossibleLength(let length): "length \(length) fits no frame"
        case .implausibleField(let offset): "the field at byte \(offset) holds a value that cannot be"
        case .truncated(let have): "the frame ends after \(have) bytes"
        case .unasked: "an answer came that nobody had asked for"
        case .unanswering(let kind): "the meter answers no query, so nobody would see what \(kind.rawValue) does"
        case .unsupportedCommand(let kind, let model): "a \(model.displayName) has no command \(kind.rawValue)"
        case .noVoltageLimit: "this host lets no meter supply a voltage: set max-voltage in [meter] of its meterd.toml"
        case .commandNumber(let command, legal: let legal?, let step):
            "\(command) is not possible: \(command.kind.rawValue) takes \(legal.lowerBound) to \(legal.upperBound)"
                + (step > 1 ? " in steps of \(step)" : "")
        case .commandNumber(let command, legal: nil, step: _): "\(command.kind.rawValue) takes no number"
        }
    }
}
