package import Domain

/// One frame of a FNIRSI meter over Bluetooth LE: `AA type length payload check`, little-endian
/// (Docs/Protocols/FNIRSI.md#bluetooth-le).
///
/// A measurement is split into several frames, so a reading contains only its own frame's quantities.
package struct FNIRSIBLEFrame: Sendable {
    package static let overhead = 4
    package static let startMark: UInt8 = 0xAA

    package let type: UInt8
    package let payload: [UInt8]

    package init(type: UInt8, payload: [UInt8]) {
        self.type = type
        self.payload = payload
    }

    /// Types whose payload is known.
    package enum Kind: UInt8, CaseIterable, Sendable {
        case info = 0x03
        /// Voltage, current and power in full resolution.
        case measurement = 0x04
        /// Load resistance and temperature.
        case load = 0x05
        /// D+, D- and the fast-charge protocols.
        case dataLines = 0x06
        /// Voltage and current in thousandths, about ten times a second.
        case quick = 0x07
        /// Totals of the counting group.
        case totals = 0x08
        /// State of the meter's own fast-charge trigger.
        case triggerState = 0x09
        /// Totals of any group.
        case groupTotals = 0x0A

        package var payloadLength: Int {
            switch self {
            case .info: 14
            case .measurement: 12
            case .load: 7
            case .dataLines: 6
            case .quick: 4
            case .totals: 17
            case .triggerState: 1
            case .groupTotals: 9
            }
        }
    }

    package var kind: Kind? { Kind(rawValue: type) }

    /// Returns the low byte of CRC-16/XMODEM over all bytes before the check byte.
    package static func check(_ bytes: some Sequence<UInt8>) -> UInt8 {
        UInt8(truncatingIfNeeded: Checksum.crc16Xmodem(bytes))
    }

    private func u8(_ offset: Int) -> Int { payload.withUnsafeBytes { Int($0.u8(offset)) } }
    private func u16(_ offset: Int) -> Int { payload.withUnsafeBytes { Int($0.u16LE(offset)) } }
    private func i16(_ offset: Int) -> Int { payload.withUnsafeBytes { Int($0.i16LE(offset)) } }
    private func i32(_ offset: Int) -> Double { payload.withUnsafeBytes { Double($0.i32LE(offset)) } }
    private func u32(_ offset: Int) -> Double { payload.withUnsafeBytes { Double($0.u32LE(offset)) } }

    /// Model number: 9 for a C1, 38 for an FNB38, 48 or 58. Nil unless this is an info frame.
    var modelCode: Int? { kind == .info ? u16(0) : nil }

    /// In ten-thousandths of a volt.
    static let voltageMax = FNIRSIUSBPacket.voltageMax / 10
    /// Largest magnitude of a negative value that an unsigned word may represent, in thousandths of a volt or tenths of
    /// a degree. Unsigned, it would be 65 V, which no USB meter has.
    static let belowZero: UInt16 = 500

    /// Nil if the word may represent a negative value.
    private func unsigned(_ offset: Int) -> Double? {
        let word = payload.withUnsafeBytes { $0.u16LE(offset) }
        return word.isBelowZero(byUpTo: Self.belowZero) ? nil : Double(word)
    }

    /// Nil above half the range, where a signed counter would be negative.
    private func counter(_ offset: Int) -> Double? { i32(offset) < 0 ? nil : i32(offset) }

    /// Lowest raw value, in steps of 0.1 mΩ, that means an open circuit (CapnBry/fnb48-web, PROTOCOL.md).
    static let openCircuit = 99_999_999.0

    /// Nil for `groupTotals`, because their group may not be the counting one.
    ///
    /// Current and power are signed, as in the vendor's app (CapnBry/fnb48-web, PROTOCOL.md). Unsigned, negative values
    /// would exceed every model's range.
    package var reading: Reading? {
        var reading = Reading()
        switch kind {
        case .measurement:
            reading[.voltage] = u32(0) <= Double(Self.voltageMax) ? u32(0) / 1e4 : nil
            reading[.current] = i32(4) / 1e4
            reading[.power] = i32(8) / 1e4
        case .load:
            let degrees = unsigned(5).map { $0 / 10 }
            reading[.resistance] = u32(0) < Self.openCircuit ? u32(0) / 1e4 : nil
            // Any sign byte above 0 means plus (CapnBry/fnb48-web PROTOCOL.md, osnwt/ha-fnirsi-fnb58). Adding 0 turns
            // -0 into 0.
            reading[.temperature] = u8(4) > 0 ? degrees : degrees.map { -$0 + 0 }
        case .dataLines:
            reading[.dataPlus] = unsigned(0).map { $0 / 1000 }
            reading[.dataMinus] = unsigned(2).map { $0 / 1000 }
        case .quick:
            reading[.voltage] = unsigned(0).map { $0 / 1000 }
            reading[.current] = Double(i16(2)) / 1000
        case .totals:
            reading[.energy] = counter(1).map { $0 / 1e5 }
            reading[.charge] = counter(5).map { $0 / 100 }
            reading[.duration] = u32(9)
        case .info, .triggerState, .groupTotals, nil:
            return nil
        }
        return reading
    }
}

extension FNIRSIBLEFrame: FrameContent {
    /// FNB58 or C1; otherwise nil. An FNB48S and possibly its sister models send 48, which identifies none of them.
    package var model: ModelName? {
        switch modelCode {
        case 58: .fnb58
        case 9: .c1
        default: nil
        }
    }

    package func forEachReading(_ body: (Reading) -> Void) {
        if let reading { body(reading) }
    }

    package var groups: [GroupTotals] {
        guard kind == .totals || kind == .groupTotals, let charge = counter(5), let energy = counter(1) else {
            return []
        }
        return [GroupTotals(index: u8(0), charge_mAh: charge / 100, energy_mWh: energy / 100)]
    }

    package var countingGroup: Int? { kind == .totals ? u8(0) : nil }

    package var device: DeviceInfo? {
        guard kind == .info else { return nil }
        let (whole, hundredths) = u16(2).quotientAndRemainder(dividingBy: 100)
        return DeviceInfo(
            model: model,
            serial: String(Int(u32(4))),
            firmware: "\(whole).\(hundredths < 10 ? "0" : "")\(hundredths)",
            powerOnCount: Int(u32(8))
        )
    }

    package var details: [FrameDetail] {
        let type = FrameDetail("frame_type", .integer(Int(type)))
        return switch kind {
        case .info:
            [
                type,
                FrameDetail("model_code", .integer(u16(0))),
                FrameDetail("group_count", .integer(u8(12))),
                .told("selected_group", .integer(u8(13))),
            ]
        case .dataLines:
            [
                type,
                FrameDetail("protocol_code", .integer(u16(4))),
                .told("protocol", Self.protocolName(u8(4))),
                .told("second_protocol", Self.protocolName(u8(5))),
            ]
        case .triggerState:
            [
                type, FrameDetail("trigger_code", .integer(u8(0))),
                .told("trigger", FNIRSITriggerState(code: u8(0)).map { .text($0.rawValue) } ?? .unknown),
            ]
        case .groupTotals: [type, FrameDetail("group", .integer(u8(0)))]
        case .totals: [type, FrameDetail("group", .integer(u8(0))), .told("power_on_s", .integer(Int(u32(13))))]
        case .measurement, .load, .quick: [type]
        case nil: [type, FrameDetail("payload_hex", .text(Hex.encode(payload)))]
        }
    }

    private static func protocolName(_ code: Int) -> FrameDetail.Value {
        UInt8(exactly: code).flatMap { FNIRSIChargeProtocol(rawValue: $0)?.name }.map { .text($0) } ?? .unknown
    }
}
