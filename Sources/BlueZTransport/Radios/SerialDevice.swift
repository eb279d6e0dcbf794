import Glibc
import LinuxIO

/// The serial device in front of an adapter's chip, `serial0-0`, and the driver bound to it.
struct SerialDevice: Hashable, Sendable {
    /// The kernel's name for it, used to unbind and bind its driver.
    var name: String
    /// The driver's folder, such as `/sys/bus/serial/drivers/hci_uart_bcm`.
    var driver: String
}

/// The last remedy for a chip behind a UART: unbinding and binding its driver, which only root may do. The service asks
/// a unit run by root for that (Packaging/meterd-rebind.path, Docs/Decisions/0021).
extension AdapterFiles {
    /// Nil if the adapter is not on a serial device, or that has no driver.
    func serialDevice(of adapter: String) -> SerialDevice? {
        // /sys/…/serial0/serial0-0/bluetooth/hci0: the adapter's device is a serial one (Linux drivers/tty/serdev/core.c).
        let folder = "\(bluetoothClass)/\(adapter)/device"
        guard let device = FileTree.canonical(folder), let bus = FileTree.canonical("\(folder)/subsystem"),
            bus == FileTree.canonical(serialBus), let driver = FileTree.canonical("\(folder)/driver"),
            let slash = device.lastIndex(of: "/")
        else { return nil }
        return SerialDevice(name: String(device[device.index(after: slash)...]), driver: driver)
    }

    /// Whether a driver can be unbound, by this program itself or on request.
    func canRebind(_ device: SerialDevice) -> Bool {
        access("\(device.driver)/unbind", W_OK) == 0 || requests != nil
    }

    /// Unbinds and binds, or requests it. May wait for many seconds: not to be called on the loop.
    ///
    /// - Returns: whether it was done, or begun if requested; the adapter then disappears.
    func rebind(_ device: SerialDevice, of adapter: String) -> Bool {
        guard access("\(device.driver)/unbind", W_OK) == 0 else { return askForRebind(of: adapter) }
        guard Self.write(device.name, to: "\(device.driver)/unbind") else { return false }
        // A device left unbound is no longer an adapter, so nothing would try again.
        for _ in 0..<Self.bindTries {
            usleep(Self.bindPause_us)
            if Self.write(device.name, to: "\(device.driver)/bind") { return true }
        }
        return false
    }

    private static let bindTries = 3
    private static let bindPause_us: UInt32 = 1_000_000

    /// A name in a folder is the whole request; the unit that performs it first removes it.
    private func askForRebind(of adapter: String) -> Bool {
        guard let requests else { return false }
        let request = "\(requests)/rebind-\(adapter)"
        guard let file = try? FileDescriptor(opening: request, O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o600) else {
            return false  // Full, or not ours: as if nothing handled requests.
        }
        file.close()
        for _ in 0..<requestLooks {
            usleep(Self.requestPause_us)
            if !FileTree.exists(request) { return true }
        }
        // Nothing handles requests. One left behind would be performed by whatever comes later.
        return unlink(request) != 0
    }

    private static let requestPause_us: UInt32 = 100_000

    private static func write(_ text: String, to path: String) -> Bool {
        // The error does not help: the adapter's state says what a person can do.
        guard let file = try? FileDescriptor(opening: path, O_WRONLY) else { return false }
        return (try? Array(text.utf8).withUnsafeBytes { try file.write($0) }) == text.utf8.count
    }
}
