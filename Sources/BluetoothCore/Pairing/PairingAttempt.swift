/// What a meter that wants to pair was told while a link to it was made, and by whom: enough to name the cause where no
/// link came of it.
package struct PairingAttempt: Hashable, Sendable {
    /// The meter asked for a PIN, and programs were asked for it.
    package private(set) var isAsked = false
    package private(set) var isPaired = false
    package private(set) var answer = Answer.none
    /// How the kernel says that the pairing ended.
    package private(set) var status: ManagementStatus?

    package enum Answer: Hashable, Sendable {
        case none
        /// The PIN went to the adapter, which has not said yet whether it still wanted it.
        case sent
        /// bluetoothd asked for the PIN, and got it.
        case given
        case taken
        /// The adapter had an answer already: another program was faster.
        case late
    }

    package init() {}

    package mutating func pinRequested() {
        isAsked = true
        answer = .none
    }

    package mutating func pinSent() { answer = .sent }

    package mutating func pinGiven() { answer = .given }

    /// The kernel's answer to our own. A controller that waits for no PIN refuses one (Core Specification 5.4, vol 2
    /// part D, "Command Disallowed"), for which the kernel says "busy" (net/bluetooth/mgmt.c, `mgmt_status_table`).
    package mutating func answered(_ status: ManagementStatus) {
        guard answer == .sent else { return }
        answer = status == .success ? .taken : .late
    }

    package mutating func failed(_ status: ManagementStatus) { self.status = status }

    /// There is a key: what fails after this has another cause.
    package mutating func paired() { isPaired = true }

    package var isUnanswered: Bool { isAsked && answer == .none && status == nil && !isPaired }

    /// Why no link came of it, as far as that is known.
    ///
    /// - Parameters:
    ///   - isRefused: the meter was reached and said no, as the system tells.
    ///   - isBondable: nil where that is not known.
    package func cause(isRefused: Bool, isBondable: Bool?) -> PairingFailure? {
        guard !isPaired else { return nil }
        let isFailed = isRefused || status != nil
        guard isAsked else {
            guard isFailed else { return nil }
            return isBondable == false ? .notBondable : status == nil ? nil : .keyRefused
        }
        if answer == .late { return .refusedByAnother }
        if status == .timeout || !isFailed { return answer == .none ? .unanswered : .silentAfterPIN }
        // A PIN that was wanted is acknowledged before the meter has seen anything of it.
        return answer == .none || answer == .sent ? .refusedByAnother : .wrongPIN
    }
}

/// Why a meter could not be paired with.
package enum PairingFailure: Hashable, Sendable {
    /// Another program of this host answered before us, and said no.
    case refusedByAnother
    /// The meter took our PIN for wrong.
    case wrongPIN
    /// It got the PIN, and the link ended without a word about it.
    case silentAfterPIN
    /// Nobody answered in time, we included.
    case unanswered
    /// The kernel refuses for everybody, as Bondable is off.
    case notBondable
    /// Nobody was asked for a PIN: a key is stored that the meter does not know any more.
    case keyRefused
}
