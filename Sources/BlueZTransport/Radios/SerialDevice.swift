import Glibc
import LinuxIO

/// The serial device behind which an adapter's chip is, `serial0-0`, with the driver that it is bound to.
struct SerialDevice: Hashable, Sendable {
    /// The kernel's name for it, by which a driver is told to let go of it and to take it.
    var name: String
    /// The driver's folder, `/sys/bus/serial/drivers/hci_uart_bcm`.
    var driver: String
}

/// The last remedy for a chip behind a UART: its driver is unbound and bound, which root alone may do. The service asks a
/// unit of root's for that (Packaging/meterd-rebind.path, Docs/Decisions/0021).
extension AdapterFiles {
    /// nil for an adapter that is on no serial device, or on one without a driver.
    func serialDevice(of adapter: String) -> SerialDevice? {
        // /sys/…/serial0/serial0-0/bluetooth/hci0: the adapter's device is a serial one (Linux drivers/tty/serdev/core.c).
        let folder = "\(bluetoothClass)/\(adapter)/device"
        guard let device = FileTree.canonical(folder), let bus = FileTree.canonical("\(folder)/subsystem"),
            bus == FileTree.canonical(serialBus), let driver = FileTree.canonical("\(folder)/driver"),
            let slash = device.lastIndex(of: "/")
        else { return nil }
        return SerialDevice(name: String(device[device.index(after: slash)...]), driver: driver)
    }

    /// Whether a driver can be unbound: by this program itself, or by asking.
    func canRebind(_ device: SerialDevice) -> Bool {
        access("\(device.driver)/unbind", W_OK) == 0 || requests != nil
    }

    /// Unbinds and binds, or asks for it. May wait for many seconds: not to be called on the loop.
    ///
    /// - Returns: whether it was done, or begun where it was asked for; the adapter goes away then.
    func rebind(_ device: SerialDevice, of adapter: String) -> Bool {
        guard access("\(device.driver)/unbind", W_OK) == 0 else { return askForRebind(of: adapter) }
        guard Self.write(device.name, to: "\(device.driver)/unbind") else { return false }
        // A device that stays unbound is no adapter any more, so that nothing would try it again.
        for _ in 0..<Self.bindTries {
            usleep(Self.bindPause_us)
            if Self.write(device.name, to: "\(device.driver)/bind") { return true }
        }
        return false
    }

    private static let bindTries = 3
    private static let bindPause_us: UInt32 = 1_000_000

    /// A name in a folder is the whole of the request, which whoever performs it takes away before all else.
    private func askForRebind(of adapter: String) -> Bool {
        guard let requests else { return false }
        let request = "\(requests)/rebind-\(adapter)"
        guard let file = try? FileDescriptor(opening: request, O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o600) else {
            return false  // Full, or not ours: as if nobody were there.
        }
        file.close()
        for _ in 0..<requestLooks {
            usleep(Self.requestPause_us)
            if !FileTree.exists(request) { return true }
        }
        // Nobody is there who performs it. A request that is left would be performed whenever somebody comes.
        return unlink(request) != 0
    }

    private static let requestPause_us: UInt32 = 100_000

    private static func write(_ text: String, to path: String) -> Bool {
        // Why not is of no help: the adapter's state says what a person can do.
        guard let file = try? FileDescriptor(opening: path, O_WRONLY) else { return false }
        return (try? Array(text.utf8).withUnsafeBytes { try file.write($0) }) == text.utf8.count
    }
}
