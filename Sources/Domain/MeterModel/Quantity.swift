/// Quantity of a reading. The raw value is the index in readings and stored chunks: append only, never renumber.
/// `Reading` has room for 24.
package enum Quantity: UInt8, CaseIterable, Sendable {
    case voltage = 0
    case current = 1
    case power = 2
    case energy = 3
    case charge = 4
    case temperature = 5
    case dataPlus = 6
    case dataMinus = 7
    case resistance = 8
    case cc1 = 9
    case cc2 = 10
    case frequency = 11
    case powerFactor = 12
    case supplyVoltage = 13
    case price = 14
    /// Running time of the meter's own counters.
    case duration = 15
    /// Energy counted by meterd: the integral of power and, over gaps, the increase of the meter's own counter. It
    /// falls only for a meter without counters, by reverse flow.
    case countedEnergy = 16
    case countedCharge = 17
    /// Quotient of two values of one quantity, such as an efficiency; only in computed meters.
    case ratio = 18

    /// Quantities of ESPHome meters, from ESPHome's device classes.
    package static let ofNodes: [Quantity] = [.voltage, .current, .power, .energy, .temperature]

    /// Name and unit for JSON and CSV (Docs/CommandLine.md#output).
    package var key: String {
        switch self {
        case .voltage: "voltage_V"
        case .current: "current_A"
        case .power: "power_W"
        case .energy: "energy_Wh"
        case .charge: "charge_mAh"
        case .temperature: "temperature_C"
        case .dataPlus: "dp_V"
        case .dataMinus: "dn_V"
        case .resistance: "resistance_ohm"
        case .cc1: "cc1_V"
        case .cc2: "cc2_V"
        case .frequency: "frequency_Hz"
        case .powerFactor: "power_factor"
        case .supplyVoltage: "vdd_V"
        case .price: "price"
        case .duration: "duration_s"
        case .countedEnergy: "counted_energy_Wh"
        case .countedCharge: "counted_charge_mAh"
        case .ratio: "ratio"
        }
    }

    /// The key without its unit: `voltage`, `power_factor`. Never change it, because ids of Home Assistant's entities
    /// contain it.
    package var word: String {
        guard !unit.isEmpty, let end = key.lastIndex(of: "_") else { return key }
        return String(key[..<end])
    }

    /// Empty for a plain number.
    package var unit: String {
        switch self {
        case .voltage, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage: "V"
        case .current: "A"
        case .power: "W"
        case .energy, .countedEnergy: "Wh"
        case .charge, .countedCharge: "mAh"
        case .temperature: "°C"
        case .resistance: "Ω"
        case .frequency: "Hz"
        case .duration: "s"
        case .powerFactor, .price, .ratio: ""
        }
    }
}

package struct QuantitySet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package init(_ quantities: Quantity...) {
        self.init(rawValue: quantities.reduce(0) { $0 | 1 << UInt32($1.rawValue) })
    }

    package func contains(_ quantity: Quantity) -> Bool {
        rawValue & 1 << UInt32(quantity.rawValue) != 0
    }

    package func forEach(_ body: (Quantity) -> Void) {
        var rest = rawValue
        while rest != 0 {
            if let quantity = Quantity(rawValue: UInt8(truncatingIfNeeded: rest.trailingZeroBitCount)) {
                body(quantity)
            }
            rest &= rest - 1
        }
    }
}
