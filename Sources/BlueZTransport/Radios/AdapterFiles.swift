import BluetoothCore
import CBluetooth
import Glibc
import LinuxIO

/// What /sys and /dev know of adapters. The paths can be others, for tests.
package struct AdapterFiles: Sendable {
    var rfkill: String
    var rfkillClass: String
    var bluetoothClass: String
    var usbNodes: String
    var serialBus: String
    /// Where a request to bind a serial device anew is put for a unit of root's; nil means nobody takes one.
    package var requests: String?
    /// How often it is looked, each tenth of a second, whether a request was taken.
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

    /// What the kernel calls an adapter just now.
    static func name(ofIndex index: UInt16) -> String { "hci\(index)" }

    /// The node to reset an adapter by; nil where it is on no USB port, or this program may not.
    func usbNode(of adapter: String) -> String? {
        // The adapter is a child of a USB interface, which is one of the device: /sys/…/1-1/1-1:1.0/bluetooth/hci0.
        guard let interface = FileTree.canonical("\(bluetoothClass)/\(adapter)/device"),
            let bus = FileTree.text(at: "\(interface)/../busnum").flatMap({ Int($0) }),
            let device = FileTree.text(at: "\(interface)/../devnum").flatMap({ Int($0) })
        else { return nil }
        let node = "\(usbNodes)/\(bus.threeDigits)/\(device.threeDigits)"
        return access(node, W_OK) == 0 ? node : nil
    }

    /// What can reset an adapter's chip, as far as is seen from here. It is on one bus.
    func chipReset(of adapter: String) -> ChipReset? {
        if usbNode(of: adapter) != nil { return .usbPort }
        return serialDevice(of: adapter).map { canRebind($0) } == true ? .serialDevice : nil
    }

    /// Resets an adapter's USB device. May wait for seconds: not to be called on the loop.
    static func resetUSB(_ node: String) throws(Errno) {
        let file = try FileDescriptor(opening: node, O_WRONLY)
        try Errno.check { cb_reset_usb(file.raw) }
    }

    /// The adapter that a switch of rfkill belongs to.
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
