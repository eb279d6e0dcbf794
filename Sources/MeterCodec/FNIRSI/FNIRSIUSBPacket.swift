package import Domain

/// One 64-byte HID report of a FNIRSI meter on USB, little-endian (Docs/Protocols/FNIRSI.md#packet).
package struct FNIRSIUSBPacket: Sendable {
    package static let length = 64
    package static let startMark: UInt8 = 0xAA
    package static let samplesPerPacket = 4
    /// Interval between samples, also across packets, which arrive every 40 ms (baryluk/fnirsi-usb-power-data-logger
    /// README.md, fqueze/usb-power-profiling usb-power-profiling.js).
    package static let interval_ms: UInt16 = 10
    package static let samplesType: UInt8 = 0x04
    static let infoType: UInt8 = 0x03

    private let bytes: InlineArray<64, UInt8>
    /// Index of the first valid sample; 0 in an unfiltered packet.
    private let firstSample: Int
    /// Number of corrected samples; 0 in an unfiltered packet.
    let replaced: Int

    /// - Parameter raw: one packet that `FNIRSIUSBDecoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer) {
        bytes = InlineArray(copying: raw)
        (firstSample, replaced) = (0, 0)
    }

    /// Builds a packet with up to four filtered samples at its end.
    init(samples: [Sample], replaced: Int) {
        let samples = samples.suffix(Self.samplesPerPacket).map(\.bytes)
        self.replaced = replaced
        let missing = Self.samplesPerPacket - samples.count
        var raw = [Self.startMark, Self.samplesType] + [UInt8](repeating: 0, count: missing * Self.sampleLength)
        raw += samples.joined()
        raw.append(0)
        raw.append(Checksum.crc8FNIRSI(raw.dropFirst()))
        bytes = raw.withUnsafeBytes { InlineArray(copying: $0) }
        firstSample = missing
    }

    struct Sample: FNIRSISample {
        fileprivate var bytes: [UInt8]

        var level: FNIRSIGlitchFilter.Level { bytes.withUnsafeBytes { FNIRSIUSBPacket.level($0, at: 0) } }

        func with(_ level: FNIRSIGlitchFilter.Level) -> Self {
            var words: [UInt8] = []
            words.appendLE(UInt32(clamping: level.voltage))
            words.appendLE(Int32(clamping: level.current))
            return Sample(bytes: words + bytes.dropFirst(words.count))
        }
    }

    /// Oldest first. Empty for a packet of another type.
    var samples: [Sample] {
        guard type == Self.samplesType else { return [] }
        return bytes.withRawBytes { raw in
            (firstSample..<Self.samplesPerPacket).map { index in
                Sample(bytes: Array(raw[Self.sampleOffset(index)...].prefix(Self.sampleLength)))
            }
        }
    }

    private static func level(_ raw: UnsafeRawBufferPointer, at offset: Int) -> FNIRSIGlitchFilter.Level {
        FNIRSIGlitchFilter.Level(voltage: Int(raw.u32LE(offset)), current: Int(raw.i32LE(offset + 4)))
    }

    /// Returns the last sample's level if each sample is near the previous one; otherwise nil.
    func calmLevel(after before: FNIRSIGlitchFilter.Level?) -> FNIRSIGlitchFilter.Level? {
        guard type == Self.samplesType else { return nil }
        return bytes.withRawBytes { raw in
            var last = before
            for index in firstSample..<Self.samplesPerPacket {
                let level = Self.level(raw, at: Self.sampleOffset(index))
                if let last, level.isFar(from: last) { return nil }
                last = level
            }
            return last
        }
    }

    /// 04 for four samples, 03 for the undescribed answer to a hello.
    package var type: UInt8 { bytes[1] }

    package static func check(_ packet: UnsafeRawBufferPointer) -> UInt8 {
        Checksum.crc8FNIRSI(UnsafeRawBufferPointer(rebasing: packet.dropFirst().prefix(length - 2)))
    }

    /// Returns the offset of a sample: voltage u32 at 0, current i32 at 4, D+ u16 at 8, D- u16 at 10, a byte at 12,
    /// temperature u16 at 13. The byte at 12 was always 1. Over LE, the byte before the temperature is its sign
    /// (CapnBry/fnb48-web PROTOCOL.md, osnwt/ha-fnirsi-fnb58).
    ///
    /// Some programs treat the current as unsigned, one as signed (fqueze/usb-power-profiling). No recording of a
    /// reversed cable is published. Signed is assumed here: a typical offset means -1 mA if signed, but 42 kA if
    /// unsigned.
    static func sampleOffset(_ index: Int) -> Int { 2 + sampleLength * index }
    static let sampleLength = 15

    /// Highest accepted values, in hundred-thousandths of a volt and of an ampere. The meters' limits are 120 V and 7
    /// A. After an unclean stop, a packet contained 188 V and 170 A (Docs/Protocols/FNIRSI.md#packet).
    static let voltageMax: UInt32 = 15_000_000
    static let currentMax: UInt32 = 1_050_000
    /// In thousandths of a volt: twice the voltage of a data line shorted to 5 V.
    static let dataLineMax: UInt16 = 10_000
    /// Tenths of a degree Celsius.
    static let temperatureMax: UInt16 = 2000
    /// Largest accepted magnitudes of negative values, in the packet's units: half a volt or 50 degrees.
    static let voltageBelowZero: UInt32 = 50_000
    static let dataLineBelowZero: UInt16 = 500
    static let temperatureBelowZero: UInt16 = 500

    static var ranges: [Quantity: ClosedRange<Double>] {
        let (current, line) = (Double(currentMax) / 1e5, 0...Double(dataLineMax) / 1000)
        return [
            .voltage: 0...Double(voltageMax) / 1e5, .current: -current...current, .dataPlus: line, .dataMinus: line,
            .temperature: -Double(temperatureBelowZero) / 10...Double(temperatureMax) / 10,
        ]
    }

    package static func implausibleOffset(_ packet: UnsafeRawBufferPointer) -> Int? {
        guard packet.u8(1) == samplesType else { return nil }
        for index in 0..<samplesPerPacket {
            let offset = sampleOffset(index)
            if !packet.u32LE(offset).isPossible(upTo: voltageMax, orBelowZeroBy: voltageBelowZero) { return offset }
            if packet.i32LE(offset + 4).magnitude > currentMax { return offset + 4 }
            if !isDataLine(packet.u16LE(offset + 8)) { return offset + 8 }
            if !isDataLine(packet.u16LE(offset + 10)) { return offset + 10 }
            if !packet.u16LE(offset + 13).isPossible(upTo: temperatureMax, orBelowZeroBy: temperatureBelowZero) {
                return offset + 13
            }
        }
        return nil
    }

    private static func isDataLine(_ word: UInt16) -> Bool {
        word.isPossible(upTo: dataLineMax, orBelowZeroBy: dataLineBelowZero)
    }

    /// Power is computed, because the meter does not send it. Values above their limit become nil.
    private static func reading(_ packet: UnsafeRawBufferPointer, at offset: Int) -> Reading {
        let current = Double(packet.i32LE(offset + 4))
        let voltage = packet.u32LE(offset) <= voltageMax ? Double(packet.u32LE(offset)) : nil
        let (plus, minus) = (packet.u16LE(offset + 8), packet.u16LE(offset + 10))
        let (sign, tenths) = (packet.u8(offset + 12), packet.u16LE(offset + 13))
        var reading = Reading()
        reading[.voltage] = voltage.map { $0 / 1e5 }
        reading[.current] = current / 1e5
        // Adding 0 turns a -0 into 0.
        reading[.power] = voltage.map { $0 * current / 1e10 + 0 }
        reading[.temperature] = sign == 1 && tenths <= temperatureMax ? Double(tenths) / 10 : nil
        reading[.dataPlus] = plus <= dataLineMax ? Double(plus) / 1000 : nil
        reading[.dataMinus] = minus <= dataLineMax ? Double(minus) / 1000 : nil
        return reading
    }
}

extension FNIRSIUSBPacket: FrameContent {
    /// Nil, because only the USB IDs identify the model.
    package var model: ModelName? { nil }

    package func forEachReading(_ body: (Reading) -> Void) { forEachSample { reading, _ in body(reading) } }

    /// The meter sends no time, so ticks only express the interval of 10 ms.
    package func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void) {
        guard type == Self.samplesType else { return }
        bytes.withRawBytes { raw in
            for index in firstSample..<Self.samplesPerPacket {
                body(Self.reading(raw, at: Self.sampleOffset(index)), Self.tick(index))
            }
        }
    }

    private static func tick(_ index: Int) -> UInt16 { interval_ms * UInt16(truncatingIfNeeded: index) }

    package var sampleTicks: SampleTicks? {
        guard type == Self.samplesType, firstSample < Self.samplesPerPacket else { return nil }
        return SampleTicks(
            oldest: Self.tick(firstSample), newest: Self.tick(Self.samplesPerPacket - 1), step: Self.interval_ms,
            count: Self.samplesPerPacket - firstSample, countedBy: .frame)
    }

    package var details: [FrameDetail] {
        let type = FrameDetail("packet_type", .integer(Int(type)))
        guard self.type != Self.samplesType else {
            return replaced > 0 ? [type, FrameDetail("replaced_samples", .integer(replaced))] : [type]
        }
        let payload = bytes.withRawBytes { Hex.encode($0[2..<(Self.length - 1)]) }
        return [type, FrameDetail("payload_hex", .text(payload))]
    }
}
