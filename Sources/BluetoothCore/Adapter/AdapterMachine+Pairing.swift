package import MeterModel

/// Bondable, as long as Bluetooth Classic is in use.
///
/// A meter with a PIN asks for it itself: to a device without Secure Simple Pairing the kernel starts no authentication
/// at the security level of an RFCOMM socket (`hci_conn_security`, net/bluetooth/hci_conn.c). And where the device asks,
/// the kernel refuses for everybody while Bondable is off (`hci_pin_code_request_evt`, net/bluetooth/hci_event.c).
/// bluetoothd switches it off when its last agent leaves (BlueZ src/adapter.c, `adapter_set_io_capability`).
extension AdapterMachine {
    struct Bondable: Hashable, Sendable {
        /// When it was last asked for.
        var askedAt: MonotonicTime?
        /// How often in a row it was lost soon after that.
        var losses = 0
        var notBefore: MonotonicTime?
        /// Until then a loss is of our own making.
        var farewellUntil: MonotonicTime?

        static let lossesMax = 4
        /// Lost so soon after it was asked for, it is taken from us by another program, and not by chance.
        static let contest: Duration = .seconds(60)
        /// How long such a program is then left alone: doubles each time from the first to the second.
        static let retry: Duration = .seconds(2)
        static let retryMax: Duration = .seconds(600)
        /// How soon after our own agent left it is lost for that reason.
        static let farewell: Duration = .seconds(5)
        var isContested: Bool { losses >= Self.lossesMax }
    }

    /// What is missing for a PIN to be asked for and answered.
    private var lacksBondable: Bool {
        settings.isSuperset(of: [.powered, .classic]) && !settings.contains(.bondable)
            && info?.supported.contains(.bondable) == true
    }

    /// nil where the adapter was not asked yet, or has no Classic to pair over.
    package var isBondable: Bool? {
        guard info != nil, settings.contains(.classic) else { return nil }
        return settings.contains(.bondable)
    }

    /// Another program insists on Bondable being off.
    package var isBondableContested: Bool { bondable.isContested && lacksBondable }

    /// Asks for it where it is off: at once, after a while where another program takes it away again and again, and
    /// once for each attempt to make a Classic link whatever others do.
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

    /// How long a program that took it away so often is left alone.
    private var heldBack: Duration {
        guard bondable.losses > 1 else { return .zero }
        return min(Bondable.retryMax, Bondable.retry * (1 << min(bondable.losses - 2, 16)))
    }

    /// Our agent leaves bluetoothd, which then may switch Bondable off.
    package mutating func agentLeaves(at now: MonotonicTime) {
        bondable.farewellUntil = now + Bondable.farewell
    }

    /// When it is asked for again.
    var bondableTime: MonotonicTime? {
        guard case .running = phase, lacksBondable, mayAsk(.setBondable(true)) else { return nil }
        return bondable.notBefore
    }
}
