package import Domain

/// The 130-byte answer of a UM24C, UM25C or UM34C. All fields are big-endian; all but the temperatures are unsigned
/// (Docs/Protocols/UM.md#block).
package struct UMBlock: Sendable {
    package static let length = 130

    private let bytes: InlineArray<130, UInt8>
    /// Model named by the block's first word; it determines the scales.
    let modelName: ModelName
    private let scales: UMScales

    /// - Parameter raw: one block that `UMDecoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer, model: ModelName) {
        bytes = InlineArray(copying: raw)
        modelName = model
        scales = UMScales.of(model)
    }

    private func u16(_ offset: Int) -> Int { bytes.withRawBytes { Int($0.u16BE(offset)) } }
    private func u32(_ offset: Int) -> Int { bytes.withRawBytes { Int($0.u32BE(offset)) } }

    package var reading: Reading {
        var reading = Reading()
        let selected = groupTotals(selectedGroup)
        reading[.voltage] = Double(u16(2)) / scales.voltage
        reading[.current] = Double(u16(4)) / scales.current
        reading[.power] = Double(u32(6)) / 1000
        reading[.energy] = selected.map { $0.energy_mWh / 1000 }
        reading[.charge] = selected?.charge_mAh
        reading[.temperature] = UMPlausibility.celsius(u16(10), beside: u16(12)).map(Double.init)
        reading[.dataPlus] = UMPlausibility.dataLine(u16(96))
        reading[.dataMinus] = UMPlausibility.dataLine(u16(98))
        reading[.resistance] = u32(122) == UMAgreement.openCircuit ? nil : Double(u32(122)) / 10
        return reading
    }

    /// Data group in which the meter counts now, 0 to 9.
    package var selectedGroup: Int { u16(14) }
    var chargingMode: UMChargingMode { UMChargingMode(word: u16(100)) }
    /// Minutes until the screen switches off; 0 means never.
    package var screenTimeout: Int { u16(118) }
    /// Brightness from 0 (dim) to 5.
    package var brightness: Int { u16(120) }
    /// Number of the screen, from 0.
    package var screen: Int { u16(126) }

    /// Returns the totals of a data group, 0 to 9; nil for another number.
    package func groupTotals(_ index: Int) -> GroupTotals? {
        guard (0..<10).contains(index) else { return nil }
        return GroupTotals(
            index: index,
            charge_mAh: Double(u32(16 + 8 * index)),
            energy_mWh: Double(u32(20 + 8 * index))
        )
    }
}

extension UMBlock: FrameContent {
    package var model: ModelName? { modelName }

    package func forEachReading(_ body: (Reading) -> Void) { body(reading) }

    package var countingGroup: Int? { selectedGroup }

    package var groups: [GroupTotals] { (0..<10).compactMap(groupTotals) }

    package var device: DeviceInfo? { DeviceInfo(model: modelName) }

    package var details: [FrameDetail] {
        [
            FrameDetail("temperature_F", .integer(UMPlausibility.signed(u16(12)))),
            .told("selected_group", .integer(selectedGroup)),
            .told("charging_mode", chargingMode.known.map { .text($0.rawValue) } ?? .unknown),
            FrameDetail("charging_mode_code", .integer(chargingMode.code)),
            .told("recorder_charge_mAh", .integer(u32(102))),
            .told("recorder_energy_mWh", .integer(u32(106))),
            .told("recorder_threshold_A", .number(Double(u16(110)) / 100)),
            .told("recorder_duration_s", .integer(u32(112))),
            .told("recorder_running", .flag(u16(116) != 0)),
            FrameDetail("screen_timeout_min", .integer(screenTimeout)),
            FrameDetail("brightness", .integer(brightness)),
            FrameDetail("screen", .integer(screen)),
        ]
    }
}

/// Charging mode that the meter derives from the voltages on D+ and D- (Docs/Protocols/UM.md#block).
package struct UMChargingMode: Hashable, Sendable {
    package let code: Int
    /// Mode of a documented code; nil for 65535, the meter's own "unknown", and for any other code.
    package var known: Known? { Known.allCases.first { $0.code == code } }

    init(word: Int) { code = word }

    /// Whether meters are known to send this code: one of the nine documented ones, or 65535.
    var isSent: Bool { code < Known.allCases.count || code == 0xFFFF }

    package enum Known: String, CaseIterable, Sendable {
        case normal
        case quickCharge2 = "QC2.0"
        case quickCharge3 = "QC3.0"
        case apple2400 = "APPLE2.4A"
        case apple2100 = "APPLE2.1A"
        case apple1000 = "APPLE1.0A"
        case apple500 = "APPLE0.5A"
        case dcp1500 = "DCP1.5A"
        case samsung = "SAMSUNG"

        fileprivate var code: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }
}
