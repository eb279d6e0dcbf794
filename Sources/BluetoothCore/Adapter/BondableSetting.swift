import Domain

/// When to request Bondable, which an adapter needs while Bluetooth Classic is in use, and how long to leave alone a
/// program that takes it away.
///
/// A meter with a PIN asks for it itself: for a device without Secure Simple Pairing the kernel starts no
/// authentication at the security level of an RFCOMM socket (`hci_conn_security`, net/bluetooth/hci_conn.c). And when
/// the device asks, the kernel refuses on behalf of every program while Bondable is off (`hci_pin_code_request_evt`,
/// net/bluetooth/hci_event.c). bluetoothd switches it off when its last agent leaves (BlueZ src/adapter.c,
/// `adapter_set_io_capability`).
struct BondableSetting: Sendable {
    /// When Bondable was last requested.
    private var askedAt: MonotonicTime?
    /// How often in a row it was lost soon after that.
    private var losses = 0
    private var notBefore: MonotonicTime?
    /// Until when a loss counts as caused by ourselves.
    private var farewellUntil: MonotonicTime?

    private static let lossesMax = 4
    /// If Bondable is lost this soon after a request, another program is taking it away, rather than by chance.
    private static let contest: Duration = .seconds(60)
    /// How long to leave such a program alone: doubles each time from the first to the second.
    private static let retry: Duration = .seconds(2)
    private static let retryMax: Duration = .seconds(600)
    /// How soon after our own agent left a loss counts as caused by that.
    private static let farewell: Duration = .seconds(5)

    /// Whether another program insists on Bondable being off.
    var isContested: Bool { losses >= Self.lossesMax }

    /// When to request it again, if it is off. Nil: at once.
    var wakeTime: MonotonicTime? { notBefore }

    /// Whether it is requested now that it is off: at once; after a while if another program takes it away again and
    /// again; and once for each attempt to make a Classic link, whatever others do.
    ///
    /// - Parameter lastAttempt: when the newest attempt to make a Classic link began.
    mutating func request(lastAttempt: MonotonicTime?, at now: MonotonicTime) -> Bool {
        if let notBefore, now < notBefore, !isWanted(forAttemptAt: lastAttempt) { return false }
        askedAt = now
        return true
    }

    private func isWanted(forAttemptAt attempt: MonotonicTime?) -> Bool {
        guard let askedAt else { return true }
        return attempt.map { $0 > askedAt } ?? false
    }

    /// It was switched off.
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

    /// Our agent leaves bluetoothd, which may then switch it off.
    mutating func agentLeaves(at now: MonotonicTime) { farewellUntil = now + Self.farewell }

    /// How long to leave alone a program that has taken it away this often.
    private var heldBack: Duration {
        guard losses > 1 else { return .zero }
        return min(Self.retryMax, Self.retry * (1 << min(losses - 2, 16)))
    }
}
