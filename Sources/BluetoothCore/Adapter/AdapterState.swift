package import Domain

/// What an adapter is doing.
package enum AdapterState: String, Sendable, CaseIterable {
    /// It is searching for meters.
    case searching
    /// It is on but not searching at the moment: it rests between two rounds, or a link is being made.
    case idle
    /// It is being switched on or set up.
    case starting
    /// Something went wrong, and a remedy is being tried.
    case recovering
    /// Switched off by a person or another program.
    case blocked
    /// Every remedy was tried without success: a person has to act.
    case failed
    /// This program may not use it.
    case forbidden
}

/// rfkill's state for an adapter (Linux `Documentation/driver-api/rfkill.rst`).
package struct RadioBlock: Hashable, Sendable {
    /// Blocked by a program, which a program can undo.
    package var isSoft: Bool
    /// Blocked by a switch or by the firmware.
    package var isHard: Bool

    package init(isSoft: Bool = false, isHard: Bool = false) {
        self.isSoft = isSoft
        self.isHard = isHard
    }

    var isBlocked: Bool { isSoft || isHard }
}

/// The steps of the recovery ladder, from the mildest on.
package enum Remedy: Sendable, CaseIterable {
    case restartDiscovery
    /// Through the kernel. Ends every link over the adapter. It does not cut the power of a chip behind a UART.
    case cyclePower
    /// As if the adapter were unplugged and plugged in again.
    case resetUSB
    /// Unbinds and binds the driver of a chip behind a UART, which cuts the chip's power.
    case rebindSerial

    /// Its position on the ladder. An adapter has at most one of the last two.
    package var step: Int {
        switch self {
        case .restartDiscovery: 1
        case .cyclePower: 2
        case .resetUSB, .rebindSerial: 3
        }
    }

    /// What the last two reset. Nil for the others.
    var chipReset: ChipReset? {
        switch self {
        case .restartDiscovery, .cyclePower: nil
        case .resetUSB: .usbPort
        case .rebindSerial: .serialDevice
        }
    }

    /// The text for people and the log.
    package var words: String {
        switch self {
        case .restartDiscovery: "discovery is restarted"
        case .cyclePower: "the adapter is switched off and on"
        case .resetUSB: "the adapter is reset on its USB port"
        case .rebindSerial: "the adapter's serial device is unbound and bound"
        }
    }
}

/// What the driver must do for the machine.
package enum AdapterAction: Hashable, Sendable {
    /// The answer comes back through `answered`. No other command is sent before that, or before the machine gives up
    /// waiting.
    case send(ManagementCommand)
    /// The outcome comes back through `chipReset`.
    case resetChip(ChipReset)
    /// A step of the ladder begins, for the log.
    case note(Remedy, because: String)
    /// The trouble is over, for the log.
    case noteRecovered
    /// Another program keeps switching Bondable off, for the log.
    case noteBondableContested
}

/// Why a link cannot be made at the moment, for people.
package struct SlotRefusal: Error, Hashable, Sendable {
    /// If true, another link has to end first. If false, the adapter itself cannot be used now.
    package var isFull: Bool
    package var message: String

    package init(isFull: Bool, message: String) {
        self.isFull = isFull
        self.message = message
    }
}

/// A link, identified by the device it leads to.
package struct SlotKey: Hashable, Sendable {
    package var address: MACAddress
    package var isClassic: Bool

    package init(_ address: MACAddress, isClassic: Bool) {
        self.address = address
        self.isClassic = isClassic
    }
}

/// The owner of a running discovery.
package enum DiscoveryOwner: Sendable {
    case own
    /// Another program, according to the kernel: we hear what its discovery hears, and cannot begin our own.
    case another
}
