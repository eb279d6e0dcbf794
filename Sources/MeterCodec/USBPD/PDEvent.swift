/// An event that a meter captured on the CC line.
package struct PDEvent: Hashable, Sendable {
    /// The meter's clock in milliseconds, wrapping.
    package let milliseconds: UInt32
    package let kind: Kind

    package init(milliseconds: UInt32, kind: Kind) {
        self.milliseconds = milliseconds
        self.kind = kind
    }

    package enum Kind: Hashable, Sendable {
        /// A partner was plugged in; nil if the meter does not report the CC line.
        case attached(CCLine?)
        case detached(CCLine?)
        /// A plug event with a code of unknown meaning.
        case plug(code: UInt8)
        case message(PDMessage)
    }
}

/// The CC pin over which the partner communicates; it depends on which way up the USB-C plug is.
package enum CCLine: Int, Hashable, Sendable {
    case cc1 = 1
    case cc2
}

extension PDEvent.Kind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .attached(let line): "attached" + Self.words(line)
        case .detached(let line): "detached" + Self.words(line)
        case .plug(let code): "plug event \(String(code, radix: 16))"
        case .message(let message): message.description
        }
    }

    private static func words(_ line: CCLine?) -> String { line.map { " (CC\($0.rawValue))" } ?? "" }
}

/// One frame's report about the CC line: a measurement, and the events since the preceding report.
package struct PDReport: Hashable, Sendable {
    /// The meter's clock in milliseconds at the measurement, wrapping.
    package var milliseconds: UInt32
    package var level: PDLevel
    /// Events since the preceding report, oldest first.
    package var events: [PDEvent]
    /// Undecoded bytes after the events.
    package var rest: [UInt8]

    package init(milliseconds: UInt32, level: PDLevel, events: [PDEvent] = [], rest: [UInt8] = []) {
        self.milliseconds = milliseconds
        self.level = level
        self.events = events
        self.rest = rest
    }
}

package struct PDLevel: Hashable, Sendable {
    package var voltage_mV: Int
    /// Current in milliamperes, with the meter's sign.
    package var current_mA: Int
    package var cc1_mV: Int
    package var cc2_mV: Int

    package init(voltage_mV: Int, current_mA: Int, cc1_mV: Int, cc2_mV: Int) {
        self.voltage_mV = voltage_mV
        self.current_mA = current_mA
        self.cc1_mV = cc1_mV
        self.cc2_mV = cc2_mV
    }
}
