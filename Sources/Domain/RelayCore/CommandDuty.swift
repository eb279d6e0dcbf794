/// The holder's side of commands from other hosts. The holder claims each command once and executes it only in time and
/// under the lease named in the command.
package struct CommandDuty: Sendable {
    package enum Verdict: Hashable, Sendable {
        case claim
        /// The holder answers without claiming the command.
        case answer(RelayOutcome)
        /// The command is a repetition, and the holder ignores it.
        case ignore
    }

    /// Number of remembered ids of commands, so that a repeated command is claimed once. The cloud grants no second
    /// claim anyway.
    private static let knownMax = 256

    private var known: [RequestID] = []

    package init() {}

    /// - Parameters:
    ///   - held: the token of this host's present lease; nil without one.
    ///   - isAllowed: whether this host accepts commands from others.
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

    /// Handles a granted claim.
    ///
    /// - Parameter sent: time at which the host sent the claim.
    /// - Returns: deadline of the command; nil if it must not run.
    package static func granted(
        _ command: RelayCommand, sent: MonotonicTime, holding held: FencingToken?, at now: MonotonicTime
    ) -> MonotonicTime? {
        let deadline = sent + RelayTiming.actingTime
        return held == command.token && now < deadline ? deadline : nil
    }
}
