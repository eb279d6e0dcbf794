import Domain

/// A reset of an adapter's chip, the last step of recovery. The adapter disappears and reappears under the same or
/// another number.
package enum ChipReset: Hashable, Sendable {
    case usbPort
    /// Rebinds the driver of a chip behind a UART, as in a Raspberry Pi. Set Powered does not reach such a chip:
    /// `hci_uart_close` only flushes. The line that powers the chip drops in `bcm_close`, when the driver is unbound
    /// (Linux `drivers/bluetooth/hci_serdev.c`, `hci_bcm.c`).
    case serialDevice

    package var remedy: Remedy {
        switch self {
        case .usbPort: .resetUSB
        case .serialDevice: .rebindSerial
        }
    }

    /// Minimum interval between two resets of a chip.
    package static let intervalMin = Duration.seconds(600)

    /// Returns the time limit for the adapter to disappear: longer for unbinding, which waits for each hung command's
    /// own timeout.
    func limit(_ timing: AdapterTiming) -> Duration {
        switch self {
        case .usbPort: timing.resetLimit
        case .serialDevice: max(.seconds(60), timing.resetLimit)
        }
    }
}

struct ChipResetAccess: Sendable {
    /// Chip reset that this program may use, if any.
    private(set) var reset: ChipReset?
    private var notBefore: MonotonicTime?

    mutating func allow(_ reset: ChipReset?, last: MonotonicTime?) {
        self.reset = reset
        if let last { notBefore = last + ChipReset.intervalMin }
    }

    func remedy(at now: MonotonicTime) -> Remedy? {
        if let notBefore, now < notBefore { return nil }
        return reset?.remedy
    }

    mutating func begin(at now: MonotonicTime) { notBefore = now + ChipReset.intervalMin }

    mutating func fail() { reset = nil }

    func limit(_ timing: AdapterTiming) -> Duration { reset?.limit(timing) ?? timing.resetLimit }
}
