import Domain

/// Decides when to request the setting Bondable, which Bluetooth Classic needs. Pauses when another program switches it
/// off.
///
/// A meter with a PIN requests the PIN itself. For a device without Secure Simple Pairing, the kernel starts no
/// authentication at the security level of an RFCOMM socket (`hci_conn_security`, net/bluetooth/hci_conn.c). While
/// Bondable is off, the kernel refuses such a request for every program (`hci_pin_code_request_evt`,
/// net/bluetooth/hci_event.c). bluetoothd switches Bondable off when its last agent unregisters (BlueZ src/adapter.c,
/// `adapter_set_io_capability`).
struct BondableSetting: Sendable {
    private var askedAt: MonotonicTime?
    private var losses = 0
    private var notBefore: MonotonicTime?
    private var farewellUntil: MonotonicTime?

    private static let lossesMax = 4
    /// Time after our request for Bondable: if the setting is lost within it, another program has switched it off.
    private static let contest: Duration = .seconds(60)
    /// Pause before the next request after a loss of Bondable. Doubles each time up to `retryMax`.
    private static let retry: Duration = .seconds(2)
    private static let retryMax: Duration = .seconds(600)
    /// Time after our own agent's removal: if Bondable is lost within it, the removal is the cause.
    private static let farewell: Duration = .seconds(5)

    var isContested: Bool { losses >= Self.lossesMax }

    /// Time of the next request while Bondable is off; nil for immediately.
    var wakeTime: MonotonicTime? { notBefore }

    /// Returns whether to request Bondable, which is off. If another program keeps switching it off, requests pause,
    /// except one for each attempt to make a Classic link.
    mutating func request(lastAttempt: MonotonicTime?, at now: MonotonicTime) -> Bool {
        if let notBefore, now < notBefore, !isWanted(forAttemptAt: lastAttempt) { return false }
        askedAt = now
        return true
    }

    private func isWanted(forAttemptAt attempt: MonotonicTime?) -> Bool {
        guard let askedAt else { return true }
        return attempt.map { $0 > askedAt } ?? false
    }

    mutating func lost(at now: MonotonicTime) -> [AdapterAction] {
        if let farewellUntil, now < farewellUntil {
            self.farewellUntil = nil
            notBefore = nil
            return []
        }
        guard let askedAt, now < askedAt + Self.contest + heldBack else {
            losses = 1
            notBefore = nil
            return []
        }
        losses += 1
        notBefore = now + heldBack
        return losses == Self.lossesMax ? [.noteBondableContested] : []
    }

    mutating func agentLeaves(at now: MonotonicTime) { farewellUntil = now + Self.farewell }

    private var heldBack: Duration {
        guard losses > 1 else { return .zero }
        return min(Self.retryMax, Self.retry * (1 << min(losses - 2, 16)))
    }
}
