import Domain
import MeterCodec

/// Answers in which there was no frame, since the last one that had one. A meter of another model than it is taken for,
/// and a bad line, give these and nothing else.
struct SpoiltAnswers {
    /// Whole answers, or reports of a meter that sends by itself.
    private(set) var count = 0
    /// What was wrong with the last one.
    private var cause: CodecError?
    private var isSpoilt = false

    /// So many are not put down to chance.
    static let countMin = 3

    /// Bytes of the present answer that are no frame.
    mutating func skipped(because error: CodecError) {
        // A wrong check is said by a frame that looks right; what follows while the next one is looked for is not.
        if case .wrongCheck? = cause, isSpoilt { return }
        cause = error
        isSpoilt = true
    }

    /// The present answer is over: the next is asked for, or came, or its rest is overdue.
    mutating func ended() {
        if isSpoilt { count += 1 }
        isSpoilt = false
    }

    /// A good frame came.
    mutating func wasGood() { self = SpoiltAnswers() }

    /// What people are told, and nil while there is nothing to tell.
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
        case .unsupportedCommand, .unanswering, .commandNumber: "not understood"
        }
    }
}
