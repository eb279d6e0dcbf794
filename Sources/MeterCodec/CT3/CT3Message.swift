package import Domain

/// The frame of a CT-3 and its host: A5, the payload's length as u32 little-endian, the payload, the XOR of its bytes,
/// 5A (Docs/Protocols/CT3.md#frame).
package enum CT3Framing {
    package static let startMark: UInt8 = 0xA5
    package static let endMark: UInt8 = 0x5A
    package static let headerLength = 5
    package static let overhead = 7
    /// Published payloads have 4 to 28 bytes; fqueze/usb-power-profiling accepts samples from 20 bytes.
    package static let payloadLengths = 4...256
    /// Maximum length of a usual payload. A longer one counts as noise if a frame of usual length begins inside it.
    static let usualLengthMax = 64

    package static func check(_ payload: UnsafeRawBufferPointer) -> UInt8 { payload.reduce(0, ^) }

    package static func frame(_ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [startMark]
        bytes.appendLE(UInt32(clamping: payload.count))
        return bytes + payload + [payload.reduce(0, ^), endMark]
    }
}

/// A request to a CT-3. Payload: 01, the command, an ID that the answer repeats, 0, and an argument.
package enum CT3Request: Hashable, Sendable {
    case stop
    /// Starts samples at this interval, at least 1 ms.
    case start(interval_ms: Int32)

    package static let stopCode: UInt8 = 0x07
    package static let startCode: UInt8 = 0x09

    package func bytes(id: UInt8) -> [UInt8] {
        switch self {
        case .stop:
            return CT3Framing.frame([0x01, Self.stopCode, id, 0])
        case .start(let interval):
            var payload: [UInt8] = [0x01, Self.startCode, id, 0]
            payload.appendLE(interval)
            return CT3Framing.frame(payload)
        }
    }
}

package struct CT3Message: Sendable {
    /// Minimum length of a sample's payload: four first bytes, two values and a timestamp.
    static let sampleLengthMin = 20
    static let replyLength = 4
    static let idOffset = 2

    /// Accepted voltages in volts: up to twice the maker's 26 V (unverified), and slightly below zero because of an
    /// offset.
    package static let voltages: ClosedRange<Float> = -0.1...52
    /// Maximum in amperes, in either direction: twice the maker's 6 A (unverified).
    static let currentMax: Float = 12

    private let bytes: InlineArray<64, UInt8>
    private let length: Int
    /// All bytes of a payload that is too long for `bytes`; otherwise empty.
    private let long: [UInt8]

    private func read<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        guard long.isEmpty else { return long.withUnsafeBytes(body) }
        return bytes.withRawBytes { body(UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
    }

    package enum Kind: Hashable, Sendable {
        /// Voltage, current and a timestamp, with the ID of the start request.
        case sample(UInt8)
        /// The answer to a start or stop. Answers to other requests also have 80 as fourth byte, but are longer.
        case reply
        case other

        /// - Parameter payload: has a length in `CT3Framing.payloadLengths`.
        package init(_ payload: UnsafeRawBufferPointer) {
            switch (payload.u8(0), payload.u8(1), payload.u8(3)) {
            case (0x04, 0, 0) where payload.count >= CT3Message.sampleLengthMin:
                self = .sample(payload.u8(CT3Message.idOffset))
            case (_, _, 0x80) where payload.count == CT3Message.replyLength: self = .reply
            default: self = .other
            }
        }
    }

    package var kind: Kind { read { Kind($0) } }

    private var isSample: Bool { if case .sample = kind { true } else { false } }

    package var id: UInt8 { bytes[Self.idOffset] }

    /// Time since the meter was switched on; the last field of a sample.
    package var microseconds: UInt64 { read { $0.u64LE($0.count - 8) } }

    static var ranges: [Quantity: ClosedRange<Double>] {
        [
            .voltage: Double(voltages.lowerBound)...Double(voltages.upperBound),
            .current: -Double(currentMax)...Double(currentMax),
        ]
    }

    static func implausibleOffset(_ payload: UnsafeRawBufferPointer) -> Int? {
        guard case .sample = Kind(payload) else { return nil }
        if !voltages.contains(payload.f32LE(4)) { return CT3Framing.headerLength + 4 }
        if !(-currentMax...currentMax).contains(payload.f32LE(8)) { return CT3Framing.headerLength + 8 }
        return nil
    }
}

extension CT3Message: PackedFrameContent {
    /// - Parameter raw: has a length in `CT3Framing.payloadLengths`; already checked by `CT3Decoder`.
    package init(_ raw: UnsafeRawBufferPointer) {
        bytes = InlineArray(copying: raw)
        length = min(raw.count, 64)
        long = raw.count > 64 ? Array(raw) : []
    }

    /// Nil, because only the USB IDs identify the model.
    package var model: ModelName? { nil }

    /// Power is computed, with the current's sign, because the meter is not known to send it.
    package func forEachReading(_ body: (Reading) -> Void) {
        guard isSample else { return }
        let (voltage, current) = read { (Double($0.f32LE(4)), Double($0.f32LE(8))) }
        var reading = Reading()
        reading[.voltage] = voltage
        reading[.current] = current
        // Adding 0 turns a -0 into 0.
        reading[.power] = voltage * current + 0
        body(reading)
    }

    /// Sampling time by the meter's clock, as in fqueze/usb-power-profiling usb-power-profiling.js.
    package var sampleTicks: SampleTicks? {
        guard isSample else { return nil }
        let tick = UInt16(truncatingIfNeeded: microseconds / 1000)
        return SampleTicks(oldest: tick, newest: tick, step: UInt16(CT3Driver.interval_ms), count: 1)
    }

    package var details: [FrameDetail] {
        let number = FrameDetail("id", .integer(Int(id)))
        guard isSample else {
            return [number, FrameDetail("payload_hex", .text(read { Hex.encode($0) }))]
        }
        let unknown = read { Hex.encode($0[12..<($0.count - 8)]) }
        return [
            number, FrameDetail("clock_us", .integer(Int(truncatingIfNeeded: microseconds))),
            FrameDetail("unknown_hex", .text(unknown)),
        ]
    }
}
