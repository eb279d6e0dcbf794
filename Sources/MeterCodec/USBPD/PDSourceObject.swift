/// One offer of a source: an object of four bytes (USB PD specification 3.1, 6.4.1.2; adjustable voltage in the
/// standard range: 3.2).
package enum PDSourceObject: Hashable, Sendable {
    case fixed(voltage_mV: Int, currentMax_mA: Int)
    /// Any voltage within the range, chosen by the source.
    case variable(voltage_mV: ClosedRange<Int>, currentMax_mA: Int)
    case battery(voltage_mV: ClosedRange<Int>, powerMax_mW: Int)
    /// Any voltage in the range that the sink requests, in steps of 20 mV.
    case programmable(voltage_mV: ClosedRange<Int>, currentMax_mA: Int)
    /// Adjustable voltage in the extended range; `power_W` is the source's total power.
    case extendedAdjustable(voltage_mV: ClosedRange<Int>, power_W: Int)
    /// Adjustable voltage in the standard range, with the highest currents up to 15 V and above 15 V.
    case adjustable(currentMax15_mA: Int, currentMax20_mA: Int)
    /// An object of an unknown kind, or one with an inverted range.
    case unknown(word: UInt32)

    package init(word: UInt32) {
        func bits(_ low: Int, _ count: Int) -> Int { Int(word >> UInt32(low)) & (1 << count - 1) }
        func range(_ least: Int, _ most: Int) -> ClosedRange<Int>? { least <= most ? least...most : nil }
        switch bits(30, 2) {
        case 0:
            self = .fixed(voltage_mV: bits(10, 10) * 50, currentMax_mA: bits(0, 10) * 10)
        case 1:
            let volts = range(bits(10, 10) * 50, bits(20, 10) * 50)
            self = volts.map { .battery(voltage_mV: $0, powerMax_mW: bits(0, 10) * 250) } ?? .unknown(word: word)
        case 2:
            let volts = range(bits(10, 10) * 50, bits(20, 10) * 50)
            self = volts.map { .variable(voltage_mV: $0, currentMax_mA: bits(0, 10) * 10) } ?? .unknown(word: word)
        default:
            switch bits(28, 2) {
            case 0:
                let volts = range(bits(8, 8) * 100, bits(17, 8) * 100)
                self =
                    volts.map { .programmable(voltage_mV: $0, currentMax_mA: bits(0, 7) * 50) }
                    ?? .unknown(word: word)
            case 1:
                let volts = range(bits(8, 8) * 100, bits(17, 9) * 100)
                self =
                    volts.map { .extendedAdjustable(voltage_mV: $0, power_W: bits(0, 8)) } ?? .unknown(word: word)
            case 2:
                self = .adjustable(currentMax15_mA: bits(10, 10) * 10, currentMax20_mA: bits(0, 10) * 10)
            default:
                self = .unknown(word: word)
            }
        }
    }
}

extension PDSourceObject {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case fixed, variable, battery, pps, avs
        case extendedAVS = "epr-avs"
        case unknown
    }

    package var kind: Kind {
        switch self {
        case .fixed: .fixed
        case .variable: .variable
        case .battery: .battery
        case .programmable: .pps
        case .adjustable: .avs
        case .extendedAdjustable: .extendedAVS
        case .unknown: .unknown
        }
    }

    package struct Limits: Hashable, Sendable {
        package var voltage_mV: ClosedRange<Int>?
        package var current_mA: Int?
        package var power_mW: Int?
    }

    /// Range of voltage, highest current and highest power; nil if not in the object. Adjustable voltage in the
    /// standard range is 9 V to 15 V, or to 20 V if the object has a current above 15 V (USB PD specification 3.2,
    /// 6.4.1.2.5).
    package var limits: Limits {
        switch self {
        case .fixed(let volts, let current): Limits(voltage_mV: volts...volts, current_mA: current)
        case .variable(let volts, let current), .programmable(let volts, let current):
            Limits(voltage_mV: volts, current_mA: current)
        case .battery(let volts, let power): Limits(voltage_mV: volts, power_mW: power)
        case .extendedAdjustable(let volts, let power): Limits(voltage_mV: volts, power_mW: power * 1000)
        case .adjustable(let below, let above):
            Limits(voltage_mV: 9000...(above > 0 ? 20_000 : 15_000), current_mA: below)
        case .unknown: Limits()
        }
    }
}

extension PDSourceObject: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fixed(let volts, let amperes):
            "\(Thousandths(volts)) V \(Thousandths(amperes)) A"
        case .variable(let volts, let amperes):
            "variable \(Self.text(volts)) \(Thousandths(amperes)) A"
        case .battery(let volts, let power):
            "battery \(Self.text(volts)) \(Thousandths(power)) W"
        case .programmable(let volts, let amperes):
            "PPS \(Self.text(volts)) \(Thousandths(amperes)) A"
        case .extendedAdjustable(let volts, let power):
            "EPR AVS \(Self.text(volts)) \(power) W"
        case .adjustable(let below, let above):
            "AVS 15 V \(Thousandths(below)) A, 20 V \(Thousandths(above)) A"
        case .unknown(let word):
            "object \(String(word, radix: 16))"
        }
    }

    private static func text(_ volts: ClosedRange<Int>) -> String {
        "\(Thousandths(volts.lowerBound))-\(Thousandths(volts.upperBound)) V"
    }
}

/// A number in thousandths, shown as a decimal: 3300 is 3.3, 5000 is 5.
struct Thousandths: CustomStringConvertible {
    private let value: Int

    /// - Parameter value: 0 or more.
    init(_ value: Int) { self.value = value }

    var description: String {
        let (whole, rest) = value.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return "\(whole)" }
        var digits = String(1000 + rest).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
