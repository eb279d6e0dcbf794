import Domain
import MeterCodec
import USBTransport

/// Facts about a machine that decide whether meters are reachable.
struct MachineFacts: Hashable {
    struct Node: Hashable {
        var path: String
        /// Model according to the node's USB ids; nil if unknown.
        var model: ModelName?
        var group: String
        /// The nine permission bits.
        var mode: UInt32
        /// Whether meterd's user may read and write the node.
        var isOpen: Bool
    }

    struct RadioSwitch: Hashable {
        var name: String
        var isOffBySoftware: Bool
        var isOffByHardware: Bool
    }

    struct Adapter: Hashable {
        var name: String
        /// USB ids; nil if the adapter is not on USB, like a Raspberry Pi's own.
        var usb: USBIdentity?
        /// Serial device of an adapter behind a UART, such as `serial0-0`.
        var serialDevice: String?
    }

    /// HCI commands without an answer since the machine started, from the kernel's log.
    struct CommandTimeouts: Hashable {
        var adapter: String
        var count: Int
        /// Opcode of the last unanswered command, in HCI's numbering.
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
    /// Operating system, such as `Debian GNU/Linux 13 (trixie)` (os-release(5), PRETTY_NAME).
    var system: String?
    /// Owner of meterd's socket; without a socket, the user of this program.
    var user: String
    /// Serial ports, and the raw HID nodes of meters.
    var ports: [Node] = []
    /// Plugged-in devices that meterd does not read, with ids of a meter or of a meter's vendor.
    var unclaimed: [UnclaimedDevice] = []
    var sharedSerials: [SharedSerial] = []
    var adapters: [Adapter] = []
    var hasBluetooth = false
    /// Version of `bluetoothd`; empty if unknown, nil if it does not run.
    var bluetoothDaemon: String?
    var udevRules: [String] = []
    /// Model of the board, such as `Raspberry Pi 4 Model B Rev 1.4`; nil on a machine without a device tree.
    var boardModel: String?
    /// Name of the first Wi-Fi interface that is up; nil if there is none.
    var wirelessInterface: String?
    /// Wi-Fi frequency in MHz; nil if not reported.
    var wirelessFrequency: Int?
    /// Whether the supply voltage was too low within the last seconds; nil without a sensor.
    var isUnderVoltage: Bool?
    /// Line in the firmware's configuration that switches off a Raspberry Pi's own Bluetooth.
    var radioSwitchedOff: Line?
    /// Nil if meterctl may not read the kernel's log.
    var commandTimeouts: [CommandTimeouts]?
    var bluetoothSwitches: [RadioSwitch] = []
    /// USB interfaces bound to the kernel's `powerz` driver.
    var powerzInterfaces: [String] = []
    var runsModemManager = false
    /// Nil if the kernel does not report it.
    var isClockSynchronised: Bool?
    /// Whether the machine has a clock that runs without power. A Raspberry Pi has none.
    var hasHardwareClock = false
    var freeSpace: FreeSpace?

    struct FreeSpace: Hashable {
        var folder: String
        var bytes: Int64
    }
}
