/// A conversation longer than one request and its answer, such as the download of a log.
///
/// The caller lends it the link: meanwhile the caller asks the meter nothing else, sends what the transfer returns,
/// passes on everything that arrives, and tells it when nothing has arrived for `answerTimeout`. A transfer begins with
/// `start` and ends with `finished` or `failed`; later calls have no effect. Like a driver, it has no clock and no
/// link.
package protocol MeterTransfer<Outcome>: Sendable {
    associatedtype Outcome: Sendable
    /// How long the meter may be silent while an answer is awaited.
    var answerTimeout: Duration { get }
    /// How far the transfer has got.
    var progress: TransferProgress { get }
    mutating func start() -> TransferStep<Outcome>
    mutating func receive(_ bytes: [UInt8]) -> TransferStep<Outcome>
    mutating func answerOverdue() -> TransferStep<Outcome>
}

package enum TransferStep<Outcome: Sendable>: Sendable {
    /// Send these in order, leaving the line idle for the pause of each, and then wait.
    case send([Outgoing])
    case wait
    case finished(Outcome)
    case failed(TransferFailure)
}

/// Bytes transferred so far, and in total.
package struct TransferProgress: Hashable, Sendable {
    package var done: Int
    /// Nil while it is not known.
    package var total: Int?

    package init(done: Int = 0, total: Int? = nil) {
        self.done = done
        self.total = total
    }
}

/// Why a transfer failed.
package enum TransferFailure: Error, Hashable, Sendable {
    /// The meter gave no valid answer, however often it was asked. Holds what was requested.
    case silent(String)
    /// The meter refused. Holds what was requested.
    case refused(String)
    /// The answer does not fit the request. Holds what was requested.
    case unreadable(String)
    /// What a person asked for does not exist. Holds its name.
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

/// A transfer whose outcome is converted to another type.
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
