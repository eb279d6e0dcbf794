/// State of a pairing while a link is being made. Reveals the cause of a failed link.
package struct PairingAttempt: Hashable, Sendable {
    /// Whether the meter requested a PIN and the kernel forwarded the request to programs.
    package private(set) var isAsked = false
    private(set) var isPaired = false
    package private(set) var answer = Answer.none
    package private(set) var status: ManagementStatus?

    package enum Answer: Hashable, Sendable {
        case none
        /// PIN sent to the adapter, which has not yet confirmed that it was still waiting for one.
        case sent
        case given
        case taken
        case late
    }

    package init() {}

    package mutating func pinRequested() {
        isAsked = true
        answer = .none
    }

    package mutating func pinSent() { answer = .sent }

    package mutating func pinGiven() { answer = .given }

    /// Records the controller's answer to our PIN. A controller refuses a PIN for which it is not waiting (Core
    /// Specification 5.4, vol 2 part D, "Command Disallowed"). The kernel reports this refusal as "busy"
    /// (net/bluetooth/mgmt.c, `mgmt_status_table`).
    package mutating func answered(_ status: ManagementStatus) {
        guard answer == .sent else { return }
        answer = status == .success ? .taken : .late
    }

    package mutating func failed(_ status: ManagementStatus) { self.status = status }

    package mutating func paired() { isPaired = true }

    package var isUnanswered: Bool { isAsked && answer == .none && status == nil && !isPaired }

    /// Returns the cause of the failed link, if known.
    ///
    /// - Parameters:
    ///   - isRefused: whether the system reached the meter, and the meter refused.
    ///   - isBondable: nil if unknown.
    package func cause(isRefused: Bool, isBondable: Bool?) -> PairingFailure? {
        guard !isPaired else { return nil }
        let isFailed = isRefused || status != nil
        guard isAsked else {
            guard isFailed else { return nil }
            return isBondable == false ? .notBondable : status == nil ? nil : .keyRefused
        }
        if answer == .late { return .refusedByAnother }
        if status == .timeout || !isFailed { return answer == .none ? .unanswered : .silentAfterPIN }
        // The controller acknowledges our PIN before the meter receives it. Without an acknowledgement, another
        // program's answer caused the refusal.
        return answer == .none || answer == .sent ? .refusedByAnother : .wrongPIN
    }
}

package enum PairingFailure: Hashable, Sendable {
    /// Another program on this host answered first, and refused.
    case refusedByAnother
    case wrongPIN
    /// The meter received the PIN, and ended the link without an explanation.
    case silentAfterPIN
    case unanswered
    /// Bondable is off, so the kernel refuses pairing requests for every program.
    case notBondable
    /// The adapter has a key that the meter no longer has, so no program received a PIN request.
    case keyRefused
}
