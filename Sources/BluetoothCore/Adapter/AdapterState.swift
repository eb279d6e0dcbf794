package import Domain

package enum AdapterState: String, Sendable, CaseIterable {
    case searching
    /// On but not searching: between two rounds, or while a link is being made.
    case idle
    case starting
    case recovering
    /// Switched off by a person or another program.
    case blocked
    /// Every remedy failed: a person has to act.
    case failed
    case forbidden
}

/// rfkill's state for an adapter (Linux `Documentation/driver-api/rfkill.rst`).
package struct RadioBlock: Hashable, Sendable {
    /// Whether a program set the block, so that a program can also remove it.
    package var isSoft: Bool
    package var isHard: Bool

    package init(isSoft: Bool = false, isHard: Bool = false) {
        self.isSoft = isSoft
        self.isHard = isHard
    }

    var isBlocked: Bool { isSoft || isHard }
}

package enum Remedy: Sendable, CaseIterable {
    case restartDiscovery
    /// Switches the adapter off and on through the kernel, which ends all its links. A chip behind a UART remains
    /// powered.
    case cyclePower
    /// Acts like unplugging the adapter and plugging it in again.
    case resetUSB
    /// Unbinds and binds the driver of a chip behind a UART, which cuts the chip's power.
    case rebindSerial

    /// Position on the recovery ladder, the same for `resetUSB` and `rebindSerial`: an adapter supports at most one of
    /// these.
    package var step: Int {
        switch self {
        case .restartDiscovery: 1
        case .cyclePower: 2
        case .resetUSB, .rebindSerial: 3
        }
    }

    var chipReset: ChipReset? {
        switch self {
        case .restartDiscovery, .cyclePower: nil
        case .resetUSB: .usbPort
        case .rebindSerial: .serialDevice
        }
    }

    package var words: String {
        switch self {
        case .restartDiscovery: "discovery is restarted"
        case .cyclePower: "the adapter is switched off and on"
        case .resetUSB: "the adapter is reset on its USB port"
        case .rebindSerial: "the adapter's serial device is unbound and bound"
        }
    }
}

package enum AdapterAction: Hashable, Sendable {
    /// Command to the kernel, whose answer the driver passes to `answered`. The machine sends no other command before
    /// the answer or its timeout.
    case send(ManagementCommand)
    case resetChip(ChipReset)
    case note(Remedy, because: String)
    case noteRecovered
    case noteBondableContested
}

/// User-readable reason why the adapter cannot open a link now.
package struct SlotRefusal: Error, Hashable, Sendable {
    /// Reason for the refusal: true if all slots are taken, false if the adapter itself is unusable now.
    package var isFull: Bool
    package var message: String

    package init(isFull: Bool, message: String) {
        self.isFull = isFull
        self.message = message
    }
}

package struct SlotKey: Hashable, Sendable {
    package var address: MACAddress
    package var isClassic: Bool

    package init(_ address: MACAddress, isClassic: Bool) {
        self.address = address
        self.isClassic = isClassic
    }
}

package enum DiscoveryOwner: Sendable {
    case own
    /// Another program. This program receives the same device reports, but cannot begin its own discovery.
    case another
}
