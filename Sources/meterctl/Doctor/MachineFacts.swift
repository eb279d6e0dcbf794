import Domain
import MeterCodec
import USBTransport

/// Facts about a machine that decide whether meters are reachable. `MachineReader` reads them.
struct MachineFacts: Hashable {
    /// A device node that may lead to a meter.
    struct Node: Hashable {
        var path: String
        /// Meter according to the node's USB ids.
        var model: ModelName?
        var group: String
        /// Nine bits.
        var mode: UInt32
        /// Whether meterd's user may read and write it.
        var isOpen: Bool
    }

    struct RadioSwitch: Hashable {
        var name: String
        var isOffBySoftware: Bool
        var isOffByHardware: Bool
    }

    /// A Bluetooth adapter, as the kernel's files show it.
    struct Adapter: Hashable {
        /// `hci0`.
        var name: String
        /// Nil if it is not on USB, such as a Raspberry Pi's own.
        var usb: USBIdentity?
        /// Serial device behind a UART to which the driver is bound, such as `serial0-0`.
        var serialDevice: String?
    }

    /// HCI commands without an answer, from the kernel's log of this boot.
    struct CommandTimeouts: Hashable {
        var adapter: String
        var count: Int
        /// Opcode of the last one, in HCI's numbering.
        var opcode: UInt16
    }

    struct Line: Hashable {
        var file: String
        var text: String
    }

    struct USBIdentity: Hashable {
        var vendor: UInt16
        var product: UInt16
    }

    var kernel: String?
    /// Such as `Debian GNU/Linux 13 (trixie)` (os-release(5), PRETTY_NAME).
    var system: String?
    /// Owner of meterd's socket, otherwise the user that runs this program.
    var user: String
    /// Serial ports, and the raw HID nodes of meters.
    var ports: [Node] = []
    /// Plugged-in devices with a meter's ids that are not readable meters.
    var unclaimed: [UnclaimedDevice] = []
    /// Serial numbers shared by several plugged-in meters.
    var sharedSerials: [SharedSerial] = []
    var adapters: [Adapter] = []
    var hasBluetooth = false
    /// Version of `bluetoothd`: empty if unknown, nil if it does not run.
    var bluetoothDaemon: String?
    var udevRules: [String] = []
    /// Such as `Raspberry Pi 4 Model B Rev 1.4`; nil on other machines.
    var boardModel: String?
    /// A Wi-Fi network interface that is up.
    var wirelessInterface: String?
    /// Frequency of that interface's channel in MHz, if reported.
    var wirelessFrequency: Int?
    /// Whether a Raspberry Pi's supply was too low within the last seconds; nil without a sensor.
    var isUnderVoltage: Bool?
    /// Line in the firmware's configuration that switches off a Raspberry Pi's own Bluetooth.
    var radioSwitchedOff: Line?
    /// Nil if the kernel's log may not be read.
    var commandTimeouts: [CommandTimeouts]?
    var bluetoothSwitches: [RadioSwitch] = []
    /// USB interfaces bound to the kernel's `powerz` driver.
    var powerzInterfaces: [String] = []
    var runsModemManager = false
    /// Nil if the kernel does not report it.
    var isClockSynchronised: Bool?
    /// Whether a clock keeps running without power. A Raspberry Pi has none.
    var hasHardwareClock = false
    var freeSpace: FreeSpace?

    struct FreeSpace: Hashable {
        var folder: String
        var bytes: Int64
    }
}
