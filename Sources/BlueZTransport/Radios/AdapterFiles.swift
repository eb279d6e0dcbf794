import BluetoothCore
import CBluetooth
import Glibc
import LinuxIO

/// What /sys and /dev say about adapters. Tests can use other paths.
package struct AdapterFiles: Sendable {
    var rfkill: String
    var rfkillClass: String
    var bluetoothClass: String
    var usbNodes: String
    var serialBus: String
    /// Where to leave a request, to a unit run by root, to rebind a serial device. Nil if nothing handles such
    /// requests.
    package var requests: String?
    /// How many times, a tenth of a second apart, to check whether a request was taken.
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

    /// The kernel's present name for an adapter.
    static func name(ofIndex index: UInt16) -> String { "hci\(index)" }

    /// The node through which to reset an adapter. Nil unless it is on a USB port and this program may reset it.
    func usbNode(of adapter: String) -> String? {
        // The adapter is a child of a USB interface, which is one of the device: /sys/…/1-1/1-1:1.0/bluetooth/hci0.
        guard let interface = FileTree.canonical("\(bluetoothClass)/\(adapter)/device"),
            let bus = FileTree.text(at: "\(interface)/../busnum").flatMap({ Int($0) }),
            let device = FileTree.text(at: "\(interface)/../devnum").flatMap({ Int($0) })
        else { return nil }
        let node = "\(usbNodes)/\(bus.threeDigits)/\(device.threeDigits)"
        return access(node, W_OK) == 0 ? node : nil
    }

    /// What can reset an adapter's chip, as far as can be seen from here. An adapter is on one bus only.
    func chipReset(of adapter: String) -> ChipReset? {
        if usbNode(of: adapter) != nil { return .usbPort }
        return serialDevice(of: adapter).map { canRebind($0) } == true ? .serialDevice : nil
    }

    /// Resets an adapter's USB device. May wait for seconds: not to be called on the loop.
    static func resetUSB(_ node: String) throws(Errno) {
        let file = try FileDescriptor(opening: node, O_WRONLY)
        try Errno.check { cb_reset_usb(file.raw) }
    }

    /// The adapter that an rfkill switch belongs to.
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
