import BluetoothCore
import CBluetooth
import Glibc
import LinuxIO

package struct AdapterFiles: Sendable {
    var rfkill: String
    var rfkillClass: String
    var bluetoothClass: String
    var usbNodes: String
    var serialBus: String
    /// Folder for requests to rebind a serial device, which a systemd unit running as root handles. Nil without such a
    /// unit.
    package var requests: String?
    /// Maximum number of checks for the root unit's acceptance of a request, 0.1 s apart.
    var requestLooks = 100

    package init(
        rfkill: String = "/dev/rfkill", rfkillClass: String = "/sys/class/rfkill",
        bluetoothClass: String = "/sys/class/bluetooth", usbNodes: String = "/dev/bus/usb",
        serialBus: String = "/sys/bus/serial", requests: String? = nil
    ) {
        self.rfkill = rfkill
        self.rfkillClass = rfkillClass
        self.bluetoothClass = bluetoothClass
        self.usbNodes = usbNodes
        self.serialBus = serialBus
        self.requests = requests
    }

    static func name(ofIndex index: UInt16) -> String { "hci\(index)" }

    /// Returns the adapter's USB device node, for a reset. Nil if the adapter is not on USB, or this program may not
    /// reset it.
    func usbNode(of adapter: String) -> String? {
        // The adapter's parent is an interface of the USB device: /sys/…/1-1/1-1:1.0/bluetooth/hci0.
        guard let interface = FileTree.canonical("\(bluetoothClass)/\(adapter)/device"),
            let bus = FileTree.text(at: "\(interface)/../busnum").flatMap({ Int($0) }),
            let device = FileTree.text(at: "\(interface)/../devnum").flatMap({ Int($0) })
        else { return nil }
        let node = "\(usbNodes)/\(bus.threeDigits)/\(device.threeDigits)"
        return access(node, W_OK) == 0 ? node : nil
    }

    /// Returns the chip reset for the adapter's bus (USB or serial); nil if this process may not reset it.
    func chipReset(of adapter: String) -> ChipReset? {
        if usbNode(of: adapter) != nil { return .usbPort }
        return serialDevice(of: adapter).map { canRebind($0) } == true ? .serialDevice : nil
    }

    /// Resets the USB device. May wait for seconds: never call it on the event loop.
    static func resetUSB(_ node: String) throws(Errno) {
        let file = try FileDescriptor(opening: node, O_WRONLY)
        try Errno.check { cb_reset_usb(file.raw) }
    }

    func adapterName(ofSwitch number: UInt32) -> String? {
        FileTree.text(at: "\(rfkillClass)/rfkill\(number)/name")
    }
}

extension Int {
    fileprivate var threeDigits: String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, 3 - digits.count)) + digits
    }
}
