import Domain
import MeterCodec

/// Counts consecutive answers without a valid frame, as from another model or over a bad line.
struct DecodeErrors {
    /// Number of bad answers, or of bad reports from a meter that sends without requests.
    private(set) var count = 0
    private var cause: CodecError?
    private var isSpoilt = false

    /// Minimum count to report; fewer may be chance.
    static let countMin = 3

    mutating func skipped(because error: CodecError) {
        // A wrong checksum indicates a complete frame, so ignore later errors: they only result from the search for the
        // next frame.
        if case .wrongCheck? = cause, isSpoilt { return }
        cause = error
        isSpoilt = true
    }

    /// Ends the current answer: it is complete or overdue, or the next one is requested.
    mutating func ended() {
        if isSpoilt { count += 1 }
        isSpoilt = false
    }

    mutating func wasGood() { self = DecodeErrors() }

    /// Returns the error for users; nil below `countMin`.
    func words(for model: ModelName?) -> String? {
        guard count >= Self.countMin, let cause else { return nil }
        let what = model.map { "is it really a \($0.displayName)?" } ?? "is it a meter?"
        return "\(count) answers rejected (\(cause.kindInWords)); \(what)"
    }
}

extension CodecError {
    fileprivate var kindInWords: String {
        switch self {
        case .noStartMark: "no start mark"
        case .unknownModel: "unknown model word"
        case .wrongCheck: "wrong check"
        case .impossibleLength: "impossible length"
        case .implausibleField: "impossible value"
        case .truncated: "cut short"
        case .unasked: "not asked for"
        case .unsupportedCommand, .noVoltageLimit, .unanswering, .commandNumber: "not understood"
        }
    }
}
