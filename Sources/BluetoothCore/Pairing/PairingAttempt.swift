/// What a meter that wanted to pair was told while a link was being made, and by whom: enough to name the cause if the
/// link failed.
package struct PairingAttempt: Hashable, Sendable {
    /// Whether the meter asked for a PIN, and programs were asked for it.
    package private(set) var isAsked = false
    private(set) var isPaired = false
    package private(set) var answer = Answer.none
    /// The end of the pairing, as reported by the kernel.
    package private(set) var status: ManagementStatus?

    package enum Answer: Hashable, Sendable {
        case none
        /// The PIN went to the adapter, which has not confirmed yet that it still wanted it.
        case sent
        /// bluetoothd asked for the PIN and got it.
        case given
        case taken
        /// The adapter already had an answer: another program was faster.
        case late
    }

    package init() {}

    package mutating func pinRequested() {
        isAsked = true
        answer = .none
    }

    package mutating func pinSent() { answer = .sent }

    package mutating func pinGiven() { answer = .given }

    /// The kernel's answer to our own. A controller that is not waiting for a PIN refuses one (Core Specification 5.4,
    /// vol 2 part D, "Command Disallowed"), which the kernel reports as "busy" (net/bluetooth/mgmt.c,
    /// `mgmt_status_table`).
    package mutating func answered(_ status: ManagementStatus) {
        guard answer == .sent else { return }
        answer = status == .success ? .taken : .late
    }

    package mutating func failed(_ status: ManagementStatus) { self.status = status }

    /// There is a key: later failures have another cause.
    package mutating func paired() { isPaired = true }

    package var isUnanswered: Bool { isAsked && answer == .none && status == nil && !isPaired }

    /// Why the link failed, as far as known.
    ///
    /// - Parameters:
    ///   - isRefused: the meter was reached and refused, according to the system.
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
        // A PIN is acknowledged by the controller before the meter has seen any of it.
        return answer == .none || answer == .sent ? .refusedByAnother : .wrongPIN
    }
}

/// Why pairing with a meter failed.
package enum PairingFailure: Hashable, Sendable {
    /// Another program on this host answered before us, and refused.
    case refusedByAnother
    /// The meter rejected our PIN as wrong.
    case wrongPIN
    /// The meter got the PIN, and the link ended without an explanation.
    case silentAfterPIN
    /// Nobody answered in time, including us.
    case unanswered
    /// The kernel refuses on behalf of every program, because Bondable is off.
    case notBondable
    /// Nobody was asked for a PIN: a key is stored that the meter no longer knows.
    case keyRefused
}
