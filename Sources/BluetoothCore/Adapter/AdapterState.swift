package import MeterModel

/// What an adapter is up to.
package enum AdapterState: String, Sendable, CaseIterable {
    /// It looks for meters.
    case searching
    /// It is on and does not look for meters just now: it rests between two rounds, or a link is being made.
    case idle
    /// It is being switched on or set up.
    case starting
    /// Something went wrong, and a remedy is being tried.
    case recovering
    /// Switched off by a person or another program.
    case blocked
    /// Every remedy was tried: a person has to do something.
    case failed
    /// This program may not use it.
    case forbidden
}

/// What rfkill says of an adapter (Linux `Documentation/driver-api/rfkill.rst`).
package struct RadioBlock: Hashable, Sendable {
    /// By a program, and a program can lift it.
    package var isSoft: Bool
    /// By a switch or by the firmware.
    package var isHard: Bool

    package init(isSoft: Bool = false, isHard: Bool = false) {
        self.isSoft = isSoft
        self.isHard = isHard
    }

    package var isBlocked: Bool { isSoft || isHard }
}

/// The steps of the recovery ladder, from the mildest on.
package enum Remedy: Sendable, CaseIterable {
    case restartDiscovery
    /// Through the kernel. Ends every link over the adapter. It does not cut the power of a chip behind a UART.
    case cyclePower
    /// As if it were unplugged and plugged in.
    case resetUSB
    /// The driver of a chip behind a UART is unbound and bound, which cuts the chip's power.
    case rebindSerial

    /// How far up the ladder it is. An adapter has one of the last two, or neither.
    package var step: Int {
        switch self {
        case .restartDiscovery: 1
        case .cyclePower: 2
        case .resetUSB, .rebindSerial: 3
        }
    }

    /// For people and the log.
    package var words: String {
        switch self {
        case .restartDiscovery: "discovery is restarted"
        case .cyclePower: "the adapter is switched off and on"
        case .resetUSB: "the adapter is reset on its USB port"
        case .rebindSerial: "the adapter's serial device is unbound and bound"
        }
    }
}

/// What the driver has to do for the machine.
package enum AdapterAction: Hashable, Sendable {
    /// The answer is told by `answered`. No other is sent before that, or before the machine gave up waiting.
    case send(ManagementCommand)
    /// Tells by `chipReset` what came of it.
    case resetChip(ChipReset)
    /// A step of the ladder begins, for the log.
    case note(Remedy, because: String)
    /// The trouble is over, for the log.
    case noteRecovered
    /// Another program keeps switching Bondable off, for the log.
    case noteBondableContested
}

/// Why no link can be made just now, for people.
package struct SlotRefusal: Error, Hashable, Sendable {
    /// True: another link has to end first. False: the adapter itself is not to be used now.
    package var isFull: Bool
    package var message: String
}

/// A link by what it leads to.
package struct SlotKey: Hashable, Sendable {
    package var address: MACAddress
    package var isClassic: Bool

    package init(_ address: MACAddress, isClassic: Bool) {
        self.address = address
        self.isClassic = isClassic
    }
}
