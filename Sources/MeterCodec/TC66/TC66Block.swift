package import Domain

/// The decrypted answer to `getva`: packets `pac1`, `pac2`, `pac3` in this order, all little-endian
/// (Docs/Protocols/TC66.md#the-answer).
package struct TC66Block: Sendable {
    package static let length = 192

    private var bytes: InlineArray<192, UInt8>
    /// Temperature unit set on the meter, which the answer does not contain.
    package let temperatureUnit: TemperatureUnit
    /// Data group (0 or 1) in which the meter counts; nil until the answers show it (`TC66Groups`).
    package internal(set) var countingGroup: Int?

    /// - Parameter plain: 192 decrypted bytes that `TC66Decoder` has checked; `order` names the packets that they
    ///   contain.
    package init(
        _ plain: UnsafeRawBufferPointer, order: InlineArray<3, TC66Piece> = [.pac1, .pac2, .pac3],
        temperatureUnit: TemperatureUnit = .celsius
    ) {
        bytes = InlineArray(repeating: 0)
        self.temperatureUnit = temperatureUnit
        withUnsafeMutableBytes(of: &bytes) { own in
            for place in 0..<3 {
                let piece = UnsafeRawBufferPointer(
                    rebasing: plain.dropFirst(place * TC66Piece.length).prefix(TC66Piece.length))
                let start = order[place].rawValue * TC66Piece.length
                UnsafeMutableRawBufferPointer(rebasing: own[start...]).copyMemory(from: piece)
            }
        }
    }

    private func word(_ offset: Int) -> UInt32 { bytes.withRawBytes { $0.u32LE(offset) } }
    private func u32(_ offset: Int) -> Int { Int(word(offset)) }
    private func text(_ offset: Int) -> String? { bytes.withRawBytes { $0.ascii(offset, length: 4) } }

    /// Voltage in ten-thousandths of a volt. `rawCurrent` is in hundred-thousandths of an ampere, `rawResistance` in
    /// tenths of an ohm.
    var rawVoltage: Int { u32(48) }
    var rawCurrent: Int { u32(52) }
    var rawResistance: Int { u32(Self.resistanceOffset) }
    static let resistanceOffset = 68

    package var reading: Reading {
        var reading = Reading()
        reading[.voltage] = Self.volts(word(48))
        reading[.current] = Self.amperes(word(52))
        reading[.power] = Self.value(word(56), per: 10_000, upTo: Self.powerMax)
        reading[.energy] = counted(76).map { $0 / 1000 }
        reading[.charge] = counted(72)
        reading[.temperature] = shownTemperature.map { temperatureUnit.celsius(Double($0)) }
        reading[.dataPlus] = Self.value(word(96), per: 100, upTo: Self.dataLineMax)
        reading[.dataMinus] = Self.value(word(100), per: 100, upTo: Self.dataLineMax)
        reading[.resistance] = rawResistance < TC66Agreement.openCircuit ? Double(rawResistance) / 10 : nil
        return reading
    }

    /// Limits in volts, amperes, watts and volts: at least twice the range of a TC66 (30 V and 5 A, unverified).
    private static let (voltageMax, currentMax, powerMax, dataLineMax) = (60.0, 12.0, 720.0, 30.0)

    static let ranges: [Quantity: ClosedRange<Double>] = [
        .voltage: 0...voltageMax, .current: 0...currentMax, .power: 0...powerMax, .dataPlus: 0...dataLineMax,
        .dataMinus: 0...dataLineMax,
        .temperature: -Double(shownTemperatureMax)...Double(shownTemperatureMax),
    ]

    /// Returns the value of an unsigned word; nil above `max`, for example after an underflow.
    private static func value(_ word: UInt32, per unit: Double, upTo max: Double) -> Double? {
        let value = Double(word) / unit
        return value <= max ? value : nil
    }

    static func volts(_ word: UInt32) -> Double? { value(word, per: 10_000, upTo: voltageMax) }
    static func amperes(_ word: UInt32) -> Double? { value(word, per: 100_000, upTo: currentMax) }

    /// Highest plausible temperature, in degrees Celsius or Fahrenheit.
    private static let shownTemperatureMax = 400

    /// Temperature on the meter's screen, in its unit. A separate word contains the sign: 1 below zero, 0 above. Nil
    /// for another sign, or above `shownTemperatureMax`.
    var shownTemperature: Int? {
        let (sign, magnitude) = (u32(88), u32(92))
        guard sign <= 1, magnitude <= Self.shownTemperatureMax else { return nil }
        return sign == 1 ? -magnitude : magnitude
    }

    /// Returns a total of the counting group; `offset` is that of group 0. If the group is unknown, returns the total
    /// if equal in both groups, else nil.
    private func counted(_ offset: Int) -> Double? {
        if let countingGroup { return Double(u32(offset + 8 * countingGroup)) }
        return u32(offset) == u32(offset + 8) ? Double(u32(offset)) : nil
    }

    /// Returns the totals of group 0 or 1 in milliampere-hours and milliwatt-hours.
    func rawTotals(_ group: Int) -> (charge: Int, energy: Int) { (u32(72 + 8 * group), u32(76 + 8 * group)) }

    /// Product name; `TC66` also on a TC66C.
    package var product: String? { text(4) }
    package var firmware: String? { text(8) }
    package var serial: Int { u32(12) }
    package var powerOnCount: Int { u32(44) }
    /// Bytes 16 to 43, whose meaning is not known.
    var unknownBytes: [UInt8] { bytes.withRawBytes { Array($0[16..<44]) } }

    /// Returns the totals of group 0 or 1; nil for any other number.
    package func groupTotals(_ index: Int) -> GroupTotals? {
        guard (0..<2).contains(index) else { return nil }
        let totals = rawTotals(index)
        return GroupTotals(index: index, charge_mAh: Double(totals.charge), energy_mWh: Double(totals.energy))
    }
}

extension TC66Block {
    package var groups: [GroupTotals] { (0..<2).compactMap(groupTotals) }

    package var device: DeviceInfo? {
        DeviceInfo(serial: String(serial), firmware: firmware, powerOnCount: powerOnCount)
    }

    package var details: [FrameDetail] {
        [
            FrameDetail("product", product.map { .text($0) } ?? .unknown),
            FrameDetail("shown_temperature", shownTemperature.map { .integer($0) } ?? .unknown),
            .told("selected_group", countingGroup.map { .integer($0) } ?? .unknown),
            FrameDetail("shown_temperature_unit", .text(temperatureUnit.rawValue)),
            FrameDetail("unknown_16_43", .text(Hex.encode(unknownBytes))),
        ]
    }
}
