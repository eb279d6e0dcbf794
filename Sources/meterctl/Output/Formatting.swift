import Domain
import GatewayAPI
import ProgramKit

enum Formatting {
    /// Formats a quantity as `5.106 V`, or as `–` if unknown. Uses a smaller unit for a current below 10 mA.
    static func quantity(_ quantity: Quantity, _ value: Double?) -> String {
        guard let value else { return "–" }
        if quantity == .current, value != 0, value.magnitude < 0.01 {
            return value.magnitude < 0.001
                ? "\(decimal(value * 1e6, digits: 1)) µA" : "\(decimal(value * 1000, digits: 3)) mA"
        }
        let digits =
            switch quantity {
            case .voltage, .current, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage: 3
            case .power, .energy, .countedEnergy, .powerFactor, .ratio: 3
            case .temperature, .resistance, .frequency: 1
            case .charge, .countedCharge, .duration: 0
            case .price: 2
            }
        let number = decimal(value, digits: digits)
        return quantity.unit.isEmpty ? number : "\(number) \(quantity.unit)"
    }

    static func decimal(_ value: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value * scale).rounded()
        guard abs(scaled) < 9e15 else { return "\(value)" }
        let whole = Int64(abs(scaled))
        let sign = scaled < 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let text = String(whole)
        let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
        return "\(sign)\(padded.dropLast(digits)).\(padded.suffix(digits))"
    }

    /// Formats an amount such as `1.85 EUR` or `0.0016 EUR`: at least two decimals and two significant digits, at most
    /// five decimals. A smaller amount is `< 0.00001 EUR`.
    static func cost(_ cost: CostBody) -> String {
        let size = cost.amount.magnitude
        guard size > 0 else { return "0.00 \(cost.currency)" }
        guard size >= 0.000_01 else { return "< 0.00001 \(cost.currency)" }
        var (digits, least) = (2, 0.1)
        while size < least, digits < 5 { (digits, least) = (digits + 1, least / 10) }
        return "\(decimal(cost.amount, digits: digits)) \(cost.currency)"
    }

    /// Formats a number with thousands separators: `1,206`.
    static func count(_ number: Int) -> String {
        let digits = "\(number.magnitude)"
        let grouped = digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
        }
        return (number < 0 ? "-" : "") + grouped.joined()
    }

    /// Formats a duration in a single unit: `250 ms`, `12 s`, `3 min`, `5 h`, `2 d`.
    static func age(milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<120_000: "\(milliseconds / 1000) s"
        case ..<7_200_000: "\(milliseconds / 60_000) min"
        case ..<172_800_000: "\(milliseconds / 3_600_000) h"
        default: "\(milliseconds / 86_400_000) d"
        }
    }

    /// Formats a duration: `1 h 2 min 3 s`, `1 min 43 s`, `0 s`. Exact to the second, from one day on to the minute.
    static func span(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"),
            (seconds < 86_400 ? seconds % 60 : 0, "s"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }

    /// Returns the reason why a meter gives no data, and a remedy; nil if it gives data, here or at another host.
    static func noData(_ status: MeterStatus, called reference: String) -> String? {
        guard !status.hasData else { return nil }
        if let host = status.holderElsewhere {
            if status.unshared == true { return "\(reference) is at \(host), which does not share what it measures" }
            return status.measured_by == nil ? "\(reference) is at \(host), which has told nothing of it yet" : nil
        }
        guard status.wanted else {
            return "\(reference): \(status.state); meterctl connect \(reference.shellWord)"
        }
        return "\(reference): \(status.state)\(status.error.map { ", \($0)" } ?? ""); meterd goes on trying"
    }

    /// Returns the meter's state: `offline, looked for for 23 s` while this host searches for an absent meter whose
    /// lease it keeps; `at alpha` for a meter that another host holds, with its state there if it gives no data.
    static func state(of meter: MeterStatus) -> String {
        if let host = meter.holderElsewhere {
            if meter.unshared == true { return "at \(host), not shared" }
            let state = meter.holder_state.flatMap { $0 == ConnectionState.dataAvailable.rawValue ? nil : $0 }
            return "at \(host)" + (state.map { ", \($0)" } ?? "")
        }
        guard let rest = meter.searching_ms else { return meter.state }
        return "\(meter.state), looked for for \(age(milliseconds: rest))"
    }

    static func colour(of meter: MeterStatus) -> Terminal.Colour? {
        guard meter.holderElsewhere != nil else { return colour(of: meter.state) }
        return meter.holder_state.map { colour(of: $0) } ?? meter.measured_by.map { _ in .green }
    }

    static func colour(of state: String) -> Terminal.Colour? {
        switch ConnectionState(rawValue: state) {
        case .dataAvailable: .green
        case .offline: .red
        case .notConnected: .dim
        case .connecting, .connected, .ready, .communicating: .yellow
        case nil: nil
        }
    }
}
