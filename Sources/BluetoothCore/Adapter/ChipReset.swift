import Domain

/// What resets an adapter's chip: the last step of the ladder. The adapter disappears and comes back, under the same
/// number or another.
package enum ChipReset: Hashable, Sendable {
    /// The port of an adapter on USB.
    case usbPort
    /// The driver of a chip behind a UART, as in a Raspberry Pi. Set Powered does not reach such a chip:
    /// `hci_uart_close` only flushes, and the line that powers it drops in `bcm_close`, when the driver is unbound
    /// (Linux `drivers/bluetooth/hci_serdev.c`, `hci_bcm.c`).
    case serialDevice

    package var remedy: Remedy {
        switch self {
        case .usbPort: .resetUSB
        case .serialDevice: .rebindSerial
        }
    }

    /// Least time between two resets of one chip: a dead one comes back dead, with a machine that does not know of the
    /// earlier reset.
    package static let intervalMin = Duration.seconds(600)

    /// How long the adapter may take to disappear. Unbinding waits for hung commands, each up to its own limit.
    func limit(_ timing: AdapterTiming) -> Duration {
        switch self {
        case .usbPort: timing.resetLimit
        case .serialDevice: max(.seconds(60), timing.resetLimit)
        }
    }
}

/// Which reset an adapter's chip has, and from when on it may be used.
struct ChipResetAccess: Sendable {
    /// Nil if nothing is known that this program may use.
    private(set) var reset: ChipReset?
    /// The earliest time of the next one.
    private var notBefore: MonotonicTime?

    /// - Parameter last: when the chip was last reset, if that was before this adapter was there.
    mutating func allow(_ reset: ChipReset?, last: MonotonicTime?) {
        self.reset = reset
        if let last { notBefore = last + ChipReset.intervalMin }
    }

    /// The step of the ladder, if it may be taken now.
    func remedy(at now: MonotonicTime) -> Remedy? {
        if let notBefore, now < notBefore { return nil }
        return reset?.remedy
    }

    mutating func begin(at now: MonotonicTime) { notBefore = now + ChipReset.intervalMin }

    /// It cannot be used after all.
    mutating func fail() { reset = nil }

    /// How long a reset under way may take.
    func limit(_ timing: AdapterTiming) -> Duration { reset?.limit(timing) ?? timing.resetLimit }
}
