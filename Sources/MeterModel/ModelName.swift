/// The meters that this gateway knows. The raw value is what people type and what JSON carries in lower case.
package enum ModelName: String, CaseIterable, Sendable {
    case um24c, um25c, um34c
    /// An A3-B: a UM24C's blocks in another housing, and its own way of asking for them over LE.
    case a3b = "a3-b"
    case tc66, tc66c
    case fnb38, fnb48, fnb48s, fnb58, c1
    /// An FNB-C2: the USB ids of an FNB58, and another set of interfaces.
    case fnbC2 = "fnb-c2"
    case km002c, km003c
    /// An Atorch that pushes type 3 reports: a USB meter (UD18, UD24, J7-C).
    case atorchUSB = "atorch-usb"
    /// An Atorch that pushes type 2 reports: a DC meter or load (DT24, DL24).
    case atorchDC = "atorch-dc"
    /// An Atorch that pushes type 1 reports: an AC meter (AT24, S1).
    case atorchAC = "atorch-ac"

    /// The name as it is printed on the meter.
    package var displayName: String {
        switch self {
        case .atorchUSB: "Atorch USB"
        case .atorchDC: "Atorch DC"
        case .atorchAC: "Atorch AC"
        default: rawValue.uppercased()
        }
    }

    /// The meters that share one wire protocol.
    package var family: MeterFamily {
        switch self {
        case .um24c, .um25c, .um34c, .a3b: .um
        case .tc66, .tc66c: .tc66
        case .fnb38, .fnb48, .fnb48s, .fnb58, .c1, .fnbC2: .fnirsi
        case .km002c, .km003c: .km003c
        case .atorchUSB, .atorchDC, .atorchAC: .atorch
        }
    }

    /// Takes any case: `UM25C` and `um25c` are one.
    package init?(_ text: some StringProtocol) {
        self.init(rawValue: text.lowercased())
    }
}

/// A wire protocol and all who speak it.
package enum MeterFamily: String, CaseIterable, Sendable {
    case um, tc66, fnirsi, km003c, atorch
}
