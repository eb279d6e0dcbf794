/// What of a machine decides whether meters can be reached. Read by `MachineReader`.
struct MachineFacts: Hashable {
    /// A serial port.
    struct Node: Hashable {
        var path: String
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

    var kernel: String?
    /// Who runs meterd, or would: the owner of its socket, else whoever asks.
    var user: String
    var ports: [Node] = []
    var adapters: [String] = []
    var bluetoothSwitches: [RadioSwitch] = []
    /// USB interfaces that the kernel's `powerz` driver has.
    var powerzInterfaces: [String] = []
    var runsModemManager = false
    /// nil: the kernel does not say.
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
