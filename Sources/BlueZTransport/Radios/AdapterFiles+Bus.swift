import Glibc
import LinuxIO

extension AdapterFiles {
    /// Returns whether the adapter is a chip on the board, behind a UART. On a Raspberry Pi and most other boards this
    /// chip also does Wi-Fi with the same antenna.
    ///
    /// Its parent is the serial device that the kernel's driver attached itself to (`hci_uart_register_device`,
    /// drivers/bluetooth/hci_serdev.c), or the terminal that `hciattach` gave it (hci_ldisc.c).
    package func isOnBoard(_ adapter: String) -> Bool {
        guard let subsystem = FileTree.canonical("\(bluetoothClass)/\(adapter)/device/subsystem") else { return false }
        return subsystem.hasSuffix("/serial") || subsystem.hasSuffix("/tty")
    }
}
