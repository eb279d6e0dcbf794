/// What resets an adapter's chip itself: the last step of the ladder. It takes the adapter away and brings it back, under
/// the same number or another.
package enum ChipReset: Hashable, Sendable {
    /// The port of an adapter on USB.
    case usbPort
    /// The driver of a chip behind a UART, as in a Raspberry Pi. Set Powered does not reach such a chip: `hci_uart_close`
    /// only flushes, and the line that powers it falls in `bcm_close`, as the driver is unbound (Linux
    /// `drivers/bluetooth/hci_serdev.c`, `hci_bcm.c`).
    case serialDevice

    package var remedy: Remedy {
        switch self {
        case .usbPort: .resetUSB
        case .serialDevice: .rebindSerial
        }
    }

    /// At most one in so long for one chip: a dead one comes back dead, with a machine that knows of none.
    package static let intervalMin = Duration.seconds(600)

    /// For the adapter to go. An unbinding waits for commands that hang, each for its own limit.
    func limit(_ timing: AdapterTiming) -> Duration {
        switch self {
        case .usbPort: timing.resetLimit
        case .serialDevice: max(.seconds(60), timing.resetLimit)
        }
    }
}
