import Domain
import MeterCodec
import USBTransport

/// The facts about a machine that decide whether meters can be reached. Read by `MachineReader`.
struct MachineFacts: Hashable {
    /// A device node that a meter may be behind.
    struct Node: Hashable {
        var path: String
        /// The meter behind it, as far as its USB ids tell.
        var model: ModelName?
        /// The group that owns it.
        var group: String
        /// The nine bits of its mode.
        var mode: UInt32
        /// Whether the user that runs meterd may read and write it.
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
        /// Nil if it is not on USB, such as a Raspberry Pi's own.
        var usb: USBIdentity?
        /// The serial device its driver is bound to, `serial0-0`, if it is behind a UART.
        var serialDevice: String?
    }

    /// The kernel's own commands that an adapter left unanswered, by the kernel's log of this boot.
    struct CommandTimeouts: Hashable {
        var adapter: String
        var count: Int
        /// The opcode of the last one, in HCI's numbering.
        var opcode: UInt16
    }

    /// A line in a file.
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
    /// The user that runs meterd, or would: the owner of its socket, otherwise the user that runs this program.
    var user: String
    /// Serial ports, and the raw HID nodes of meters.
    var ports: [Node] = []
    /// Devices that are plugged in with a meter's ids, but are not meters that can be read.
    var unclaimed: [UnclaimedDevice] = []
    /// Serial numbers of plugged-in meters that others have too.
    var sharedSerials: [SharedSerial] = []
    var adapters: [Adapter] = []
    /// Whether the kernel has Bluetooth.
    var hasBluetooth = false
    /// The version reported by `bluetoothd`: empty if it runs without reporting one, nil if it does not run.
    var bluetoothDaemon: String?
    /// Those of this project's udev rules that are installed.
    var udevRules: [String] = []
    /// Such as `Raspberry Pi 4 Model B Rev 1.4`; nil on other machines.
    var boardModel: String?
    /// A Wi-Fi network interface that is up.
    var wirelessInterface: String?
    /// The frequency of that interface's channel in MHz, if reported.
    var wirelessFrequency: Int?
    /// Whether a Raspberry Pi's supply was too low within the last seconds; nil if nothing measures it.
    var isUnderVoltage: Bool?
    /// The line that switches off a Raspberry Pi's own Bluetooth in its firmware's configuration.
    var radioSwitchedOff: Line?
    /// Nil if the kernel's log may not be read.
    var commandTimeouts: [CommandTimeouts]?
    var bluetoothSwitches: [RadioSwitch] = []
    /// USB interfaces bound to the kernel's `powerz` driver.
    var powerzInterfaces: [String] = []
    var runsModemManager = false
    /// Nil if the kernel does not say.
    var isClockSynchronised: Bool?
    /// Whether it has a clock that keeps running without power. A Raspberry Pi has none.
    var hasHardwareClock = false
    /// The space for meterd's files, and where that was measured.
    var freeSpace: FreeSpace?

    struct FreeSpace: Hashable {
        var folder: String
        var bytes: Int64
    }
}
