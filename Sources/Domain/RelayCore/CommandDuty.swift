/// Decides which commands of other hosts the holder executes: each once, in time, and under the lease named in it.
package struct CommandDuty: Sendable {
    package enum Verdict: Hashable, Sendable {
        case claim
        /// Answer without claiming the command.
        case answer(RelayOutcome)
        /// The command is a repetition.
        case ignore
    }

    /// Maximum number of command ids remembered to ignore repetitions. The cloud grants no second claim anyway.
    private static let knownMax = 256

    private var known: [RequestID] = []

    package init() {}

    /// - Parameters:
    ///   - held: token of this host's lease; nil without one.
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

    /// - Parameter sent: time at which this host sent the claim.
    /// - Returns: the command's deadline; nil if it must not run.
    package static func granted(
        _ command: RelayCommand, sent: MonotonicTime, holding held: FencingToken?, at now: MonotonicTime
    ) -> MonotonicTime? {
        let deadline = sent + RelayTiming.actingTime
        return held == command.token && now < deadline ? deadline : nil
    }
}
