package import MeterModel

/// Keeps the adapter bondable while Bluetooth Classic is in use.
///
/// A meter with a PIN asks for it itself: for a device without Secure Simple Pairing the kernel starts no
/// authentication at the security level of an RFCOMM socket (`hci_conn_security`, net/bluetooth/hci_conn.c). And when
/// the device asks, the kernel refuses on behalf of every program while Bondable is off (`hci_pin_code_request_evt`,
/// net/bluetooth/hci_event.c). bluetoothd switches it off when its last agent leaves (BlueZ src/adapter.c,
/// `adapter_set_io_capability`).
extension AdapterMachine {
    struct Bondable: Hashable, Sendable {
        /// When Bondable was last requested.
        var askedAt: MonotonicTime?
        /// How often in a row it was lost soon after that.
        var losses = 0
        var notBefore: MonotonicTime?
        /// Until when a loss counts as caused by ourselves.
        var farewellUntil: MonotonicTime?

        static let lossesMax = 4
        /// If Bondable is lost this soon after a request, another program is taking it away, rather than by chance.
        static let contest: Duration = .seconds(60)
        /// How long to leave such a program alone: doubles each time from the first to the second.
        static let retry: Duration = .seconds(2)
        static let retryMax: Duration = .seconds(600)
        /// How soon after our own agent left a loss counts as caused by that.
        static let farewell: Duration = .seconds(5)
        var isContested: Bool { losses >= Self.lossesMax }
    }

    /// Whether Bondable is off, so that a PIN cannot be asked for and answered.
    private var lacksBondable: Bool {
        settings.isSuperset(of: [.powered, .classic]) && !settings.contains(.bondable)
            && info?.supported.contains(.bondable) == true
    }

    /// Nil if the adapter has not been read yet, or has no Classic to pair over.
    package var isBondable: Bool? {
        guard info != nil, settings.contains(.classic) else { return nil }
        return settings.contains(.bondable)
    }

    /// Whether another program insists on Bondable being off.
    package var isBondableContested: Bool { bondable.isContested && lacksBondable }

    /// Requests Bondable if it is off: at once; after a while if another program takes it away again and again; and
    /// once for each attempt to make a Classic link, whatever others do.
    mutating func keepBondable(at now: MonotonicTime) -> [AdapterAction] {
        guard lacksBondable, mayAsk(.setBondable(true)) else { return [] }
        if let notBefore = bondable.notBefore, now < notBefore, !isWantedForAttempt { return [] }
        bondable.askedAt = now
        return send(.setBondable(true), at: now)
    }

    private var isWantedForAttempt: Bool {
        guard let askedAt = bondable.askedAt else { return true }
        return slots.attempts.contains { $0.key.isClassic && $0.value > askedAt }
    }

    mutating func bondableLost(at now: MonotonicTime) -> [AdapterAction] {
        if let until = bondable.farewellUntil, now < until {
            bondable.farewellUntil = nil
            bondable.notBefore = nil
            return []
        }
        guard let askedAt = bondable.askedAt, now < askedAt + Bondable.contest + heldBack else {
            bondable.losses = 1
            bondable.notBefore = nil
            return []
        }
        bondable.losses += 1
        bondable.notBefore = now + heldBack
        return bondable.losses == Bondable.lossesMax ? [.noteBondableContested] : []
    }

    /// How long to leave alone a program that has taken it away this often.
    private var heldBack: Duration {
        guard bondable.losses > 1 else { return .zero }
        return min(Bondable.retryMax, Bondable.retry * (1 << min(bondable.losses - 2, 16)))
    }

    /// Our agent leaves bluetoothd, which may then switch Bondable off.
    package mutating func agentLeaves(at now: MonotonicTime) {
        bondable.farewellUntil = now + Bondable.farewell
    }

    /// When to request it again.
    var bondableTime: MonotonicTime? {
        guard case .running = phase, lacksBondable, mayAsk(.setBondable(true)) else { return nil }
        return bondable.notBefore
    }
}
