import MeterModel
import USBTransport

/// What of a machine decides whether meters can be reached. Read by `MachineReader`.
struct MachineFacts: Hashable {
    /// A device node that a meter may be behind.
    struct Node: Hashable {
        var path: String
        /// The meter behind it, as far as its USB ids tell.
        var model: ModelName?
        /// The group that it belongs to.
        var group: String
        /// The nine bits of its mode.
        var mode: UInt32
        /// The user that runs meterd may read and write it.
        var isOpen: Bool
    }

    /// A radio that can be switched off.
    struct RadioSwitch: Hashable {
        var name: String
        var isOffBySoftware: Bool
        var isOffByHardware: Bool
    }

    /// A Bluetooth adapter, as the kernel's files show it.
    struct Adapter: Hashable {
        /// `hci0`.
        var name: String
        /// nil where it is not on USB, as a Raspberry Pi's own.
        var usb: USBIdentity?
        /// What its driver is bound to, `serial0-0`, where it is behind a UART.
        var serialDevice: String?
    }

    /// Commands of the kernel's own that an adapter left unanswered, by the kernel's log of this boot.
    struct CommandTimeouts: Hashable {
        var adapter: String
        var count: Int
        /// The last one's, in HCI's numbering.
        var opcode: UInt16
    }

    /// A line of a file.
    struct Line: Hashable {
        var file: String
        var text: String
    }

    struct USBIdentity: Hashable {
        var vendor: UInt16
        var product: UInt16
    }

    var kernel: String?
    /// `Debian GNU/Linux 13 (trixie)` and the like (os-release(5), PRETTY_NAME).
    var system: String?
    /// Who runs meterd, or would: the owner of its socket, else whoever asks.
    var user: String
    /// Serial ports, and the raw HID nodes of meters.
    var ports: [Node] = []
    /// Plugged in, with a meter's ids, and no meter that is read.
    var unclaimed: [UnclaimedDevice] = []
    var adapters: [Adapter] = []
    /// The kernel has its part of Bluetooth.
    var hasBluetooth = false
    /// What `bluetoothd` says of its version; empty where it runs and does not say, nil where it does not run.
    var bluetoothDaemon: String?
    /// Of this project's udev rules, those that are installed.
    var udevRules: [String] = []
    /// `Raspberry Pi 4 Model B Rev 1.4` and the like; nil on what is no such board.
    var boardModel: String?
    /// A Wi-Fi network interface that is up.
    var wirelessInterface: String?
    /// What that interface's channel is at, in MHz; nil where it does not say.
    var wirelessFrequency: Int?
    /// The supply of a Raspberry Pi was too low within the last seconds; nil where nothing measures it.
    var isUnderVoltage: Bool?
    /// What switches a Raspberry Pi's own Bluetooth off in its firmware's configuration.
    var radioSwitchedOff: Line?
    /// nil where the kernel's log may not be read.
    var commandTimeouts: [CommandTimeouts]?
    var bluetoothSwitches: [RadioSwitch] = []
    /// USB interfaces that the kernel's `powerz` driver has.
    var powerzInterfaces: [String] = []
    var runsModemManager = false
    /// nil means the kernel does not say.
    var isClockSynchronised: Bool?
    /// A clock that goes on without power. A Raspberry Pi has none.
    var hasHardwareClock = false
    /// Room for files of meterd, and where that was looked at.
    var freeSpace: FreeSpace?

    struct FreeSpace: Hashable {
        var folder: String
        var bytes: Int64
    }
}
