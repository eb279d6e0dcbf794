/// The holder's side of commands from other hosts: each is claimed once, and done only in time and under the lease at
/// which it is aimed.
package struct CommandDuty: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Ask the cloud whether to do it.
        case claim
        /// Say this without asking.
        case answer(RelayOutcome)
        /// It was received before.
        case ignore
    }

    /// Ids that are remembered, so that a command told twice is claimed once. The cloud grants no second claim anyway.
    private static let knownMax = 256

    private var known: [RequestID] = []

    package init() {}

    /// - Parameters:
    ///   - held: the token under which this host has the meter now; nil if it has not.
    ///   - isAllowed: whether this host takes commands from others.
    package mutating func received(_ command: RelayCommand, holding held: FencingToken?, isAllowed: Bool) -> Verdict {
        guard !known.contains(command.id) else { return .ignore }
        known.append(command.id)
        if known.count > Self.knownMax { known.removeFirst() }
        guard held == command.token else { return .answer(.notDone("the meter changed hands before it was done")) }
        guard isAllowed else {
            return .answer(
                .refused(
                    code: "refused", message: "this host takes no commands from others",
                    next: "do it there, or set [relay] commands = true in its configuration"))
        }
        if case .unknown(let kind) = command.action {
            return .answer(
                .refused(code: "bad-request", message: "this host does not know \"\(kind)\"", next: "update it"))
        }
        return .claim
    }

    /// The claim was granted.
    ///
    /// - Parameter sent: when it was sent.
    /// - Returns: until when the command may be done; nil if it must not be.
    package static func granted(
        _ command: RelayCommand, sent: MonotonicTime, holding held: FencingToken?, at now: MonotonicTime
    ) -> MonotonicTime? {
        let deadline = sent + RelayTiming.actingTime
        return held == command.token && now < deadline ? deadline : nil
    }
}
