/// An exchange longer than one request and its answer, such as the download of a log.
///
/// The caller sends only the bytes that the transfer returns, passes on all input, and reports a silence of
/// `answerTimeout`. Calls after `finished` or `failed` have no effect.
package protocol MeterTransfer<Outcome>: Sendable {
    associatedtype Outcome: Sendable
    /// Maximum silence of the meter while an answer is due.
    var answerTimeout: Duration { get }
    var progress: TransferProgress { get }
    mutating func start() -> TransferStep<Outcome>
    mutating func receive(_ bytes: [UInt8]) -> TransferStep<Outcome>
    mutating func answerOverdue() -> TransferStep<Outcome>
}

package enum TransferStep<Outcome: Sendable>: Sendable {
    /// Send these bytes in order, each with its pause afterwards, then wait.
    case send([Outgoing])
    case wait
    case finished(Outcome)
    case failed(TransferFailure)
}

/// Bytes transferred so far, and in total.
package struct TransferProgress: Hashable, Sendable {
    package var done: Int
    /// Total number of bytes; nil while unknown.
    package var total: Int?

    package init(done: Int = 0, total: Int? = nil) {
        self.done = done
        self.total = total
    }
}

/// Reason why a transfer failed, with the name of the requested data.
package enum TransferFailure: Error, Hashable, Sendable {
    case silent(String)
    case refused(String)
    /// The answer does not fit the request.
    case unreadable(String)
    case missing(String)
}

extension TransferFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .silent(let what): "the meter did not answer when asked for \(what)"
        case .refused(let what): "the meter refuses \(what)"
        case .unreadable(let what): "what the meter sent as \(what) makes no sense"
        case .missing(let name): "the meter has no \(name)"
        }
    }
}

package struct MappedTransfer<Base: MeterTransfer, Outcome: Sendable>: MeterTransfer {
    private var base: Base
    private let transform: @Sendable (Base.Outcome) -> Outcome

    package init(_ base: Base, _ transform: @escaping @Sendable (Base.Outcome) -> Outcome) {
        self.base = base
        self.transform = transform
    }

    package var answerTimeout: Duration { base.answerTimeout }
    package var progress: TransferProgress { base.progress }
    package mutating func start() -> TransferStep<Outcome> { base.start().map(transform) }
    package mutating func receive(_ bytes: [UInt8]) -> TransferStep<Outcome> { base.receive(bytes).map(transform) }
    package mutating func answerOverdue() -> TransferStep<Outcome> { base.answerOverdue().map(transform) }
}

extension TransferStep {
    fileprivate func map<Other>(_ transform: (Outcome) -> Other) -> TransferStep<Other> {
        switch self {
        case .send(let steps): .send(steps)
        case .wait: .wait
        case .finished(let outcome): .finished(transform(outcome))
        case .failed(let failure): .failed(failure)
        }
    }
}
