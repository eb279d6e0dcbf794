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
