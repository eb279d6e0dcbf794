import Glibc
import LinuxIO

/// Serial device of an adapter's chip, such as `serial0-0`.
struct SerialDevice: Hashable, Sendable {
    var name: String
    /// The driver's folder, such as `/sys/bus/serial/drivers/hci_uart_bcm`.
    var driver: String
}

/// The last remedy for a chip behind a UART: rebinding its driver, which only root may do. A systemd unit running as
/// root does it on request (Packaging/meterd-rebind.path, Docs/Decisions/0021).
extension AdapterFiles {
    /// Returns the adapter's serial device. Nil if the adapter is not on one, or the device has no driver.
    func serialDevice(of adapter: String) -> SerialDevice? {
        // /sys/…/serial0/serial0-0/bluetooth/hci0: the adapter's device is a serial one (Linux
        // drivers/tty/serdev/core.c).
        let folder = "\(bluetoothClass)/\(adapter)/device"
        guard let device = FileTree.canonical(folder), let bus = FileTree.canonical("\(folder)/subsystem"),
            bus == FileTree.canonical(serialBus), let driver = FileTree.canonical("\(folder)/driver"),
            let slash = device.lastIndex(of: "/")
        else { return nil }
        return SerialDevice(name: String(device[device.index(after: slash)...]), driver: driver)
    }

    func canRebind(_ device: SerialDevice) -> Bool {
        access("\(device.driver)/unbind", W_OK) == 0 || requests != nil
    }

    /// Unbinds and rebinds the driver, or requests this from the root unit. May wait for many seconds: never call it on
    /// the event loop.
    ///
    /// - Returns: whether the driver was rebound or the unit accepted the request.
    func rebind(_ device: SerialDevice, of adapter: String) -> Bool {
        guard access("\(device.driver)/unbind", W_OK) == 0 else { return askForRebind(of: adapter) }
        guard Self.write(device.name, to: "\(device.driver)/unbind") else { return false }
        // Retry here: no other code retries a device without a driver.
        for _ in 0..<Self.bindTries {
            usleep(Self.bindPause_us)
            if Self.write(device.name, to: "\(device.driver)/bind") { return true }
        }
        return false
    }

    private static let bindTries = 3
    private static let bindPause_us: UInt32 = 1_000_000

    /// Creates a file named after the adapter. The root unit removes the file before it rebinds the driver.
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
        // Withdraw the request, so that a unit that starts later does not find it. If the file is already gone, a unit
        // has just accepted it.
        return unlink(request) != 0
    }

    private static let requestPause_us: UInt32 = 100_000

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = try? FileDescriptor(opening: path, O_WRONLY) else { return false }
        return (try? Array(text.utf8).withUnsafeBytes { try file.write($0) }) == text.utf8.count
    }
}
