/// A conversation that is longer than a question and its answer, such as the download of a log.
///
/// The caller lends it the link: it asks the meter nothing else meanwhile, sends what the transfer says, hands it all
/// that comes, and tells it when nothing came for `answerTimeout`. It begins with `start` and is over with `finished`
/// or `failed`; what is called afterwards has no effect. Like a driver it has no clock and no link.
package protocol MeterTransfer<Outcome>: Sendable {
    associatedtype Outcome: Sendable
    /// How long the meter may be silent while something is awaited from it.
    var answerTimeout: Duration { get }
    /// How far it is.
    var progress: TransferProgress { get }
    mutating func start() -> TransferStep<Outcome>
    mutating func receive(_ bytes: [UInt8]) -> TransferStep<Outcome>
    mutating func answerOverdue() -> TransferStep<Outcome>
}

package enum TransferStep<Outcome: Sendable>: Sendable {
    /// Send these in order, leaving the line alone for the pause of each, and then wait.
    case send([Outgoing])
    case wait
    case finished(Outcome)
    case failed(TransferFailure)
}

/// What is done of what is to be done, bytes.
package struct TransferProgress: Hashable, Sendable {
    package var done: Int
    /// nil while it is not known.
    package var total: Int?

    package init(done: Int = 0, total: Int? = nil) {
        self.done = done
        self.total = total
    }
}

/// Why a transfer came to nothing.
package enum TransferFailure: Error, Hashable, Sendable {
    /// The meter answered nothing that counts, however often it was asked; what was asked for.
    case silent(String)
    /// The meter said no; what was asked for.
    case refused(String)
    /// The answer was not one to the request; what was asked for.
    case unreadable(String)
    /// What a person wants is not there; its name.
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

/// A transfer whose outcome is told in other words.
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
