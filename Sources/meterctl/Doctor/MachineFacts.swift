import Domain
import MeterCodec
import USBTransport

/// Facts about a machine that decide whether meters are reachable. `MachineReader` reads them.
struct MachineFacts: Hashable {
    /// A device node of a possible meter.
    struct Node: Hashable {
        var path: String
        /// Model according to the node's USB ids; nil if unknown.
        var model: ModelName?
        var group: String
        /// Nine permission bits of the mode.
        var mode: UInt32
        /// Whether meterd's user may read and write it.
        var isOpen: Bool
    }

    struct RadioSwitch: Hashable {
        var name: String
        var isOffBySoftware: Bool
        var isOffByHardware: Bool
    }

    /// A Bluetooth adapter as described by the kernel's files.
    struct Adapter: Hashable {
        /// Name of the adapter, such as `hci0`.
        var name: String
        /// USB ids; nil if the adapter is not on USB, such as the built-in adapter of a Raspberry Pi.
        var usb: USBIdentity?
        /// Serial device of an adapter behind a UART, such as `serial0-0`.
        var serialDevice: String?
    }

    /// HCI commands without an answer, from the kernel's log of this boot.
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
    /// Name of the operating system, such as `Debian GNU/Linux 13 (trixie)` (os-release(5), PRETTY_NAME).
    var system: String?
    /// Owner of meterd's socket. Without a socket, the user that runs this program.
    var user: String
    /// Serial ports, and the raw HID nodes of meters.
    var ports: [Node] = []
    /// Plugged-in devices that meterd does not read, but that have ids of a meter or of a meter's vendor.
    var unclaimed: [UnclaimedDevice] = []
    /// Serial numbers shared by several plugged-in meters.
    var sharedSerials: [SharedSerial] = []
    var adapters: [Adapter] = []
    var hasBluetooth = false
    /// Version of `bluetoothd`: empty if unknown, nil if `bluetoothd` does not run.
    var bluetoothDaemon: String?
    var udevRules: [String] = []
    /// Model of the board, such as `Raspberry Pi 4 Model B Rev 1.4`; nil on other machines.
    var boardModel: String?
    /// A Wi-Fi network interface that is up.
    var wirelessInterface: String?
    /// Frequency of the Wi-Fi channel in MHz; nil if not reported.
    var wirelessFrequency: Int?
    /// Whether a Raspberry Pi's supply was too low within the last seconds; nil without a sensor.
    var isUnderVoltage: Bool?
    /// Line in the firmware's configuration that switches off the built-in Bluetooth of a Raspberry Pi.
    var radioSwitchedOff: Line?
    /// Unanswered commands; nil if meterctl may not read the kernel's log.
    var commandTimeouts: [CommandTimeouts]?
    var bluetoothSwitches: [RadioSwitch] = []
    /// USB interfaces bound to the kernel's `powerz` driver.
    var powerzInterfaces: [String] = []
    var runsModemManager = false
    /// Whether the clock is synchronised; nil if the kernel does not report it.
    var isClockSynchronised: Bool?
    /// Whether a clock keeps running without power. A Raspberry Pi has none.
    var hasHardwareClock = false
    var freeSpace: FreeSpace?

    struct FreeSpace: Hashable {
        var folder: String
        var bytes: Int64
    }
}
