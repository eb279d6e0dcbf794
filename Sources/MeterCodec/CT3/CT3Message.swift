package import Domain

/// The frame in which a CT-3 and its host put everything: A5, the payload's length as u32 little-endian, the payload, the XOR
/// of its bytes, 5A (Docs/Protocols/CT3.md#frame).
package enum CT3Framing {
    package static let startMark: UInt8 = 0xA5
    package static let endMark: UInt8 = 0x5A
    /// Bytes before the payload.
    package static let headerLength = 5
    /// Bytes around it.
    package static let overhead = 7
    /// Payloads that are believed. Published ones have 4 to 28 bytes; fqueze/usb-power-profiling takes samples of any length
    /// from 20.
    package static let payloadLengths = 4...256
    /// A longer one is not waited for where a frame up to this length begins inside it: its start mark is only a byte that
    /// looks like one.
    static let usualLengthMax = 64

    package static func check(_ payload: UnsafeRawBufferPointer) -> UInt8 { payload.reduce(0, ^) }

    package static func frame(_ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [startMark]
        bytes.appendLE(UInt32(clamping: payload.count))
        return bytes + payload + [payload.reduce(0, ^), endMark]
    }
}

/// What a host asks a CT-3 for. The payload is 01, the command, an id that the answer repeats, 0, and an argument.
package enum CT3Request: Hashable, Sendable {
    /// Stops the samples.
    case stop
    /// Starts samples that far apart, in whole milliseconds of 1 or more.
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

/// A payload of a CT-3: a sample, the answer to a request, or one that nobody has described.
package struct CT3Message: Sendable {
    /// A sample has at least its four first bytes, two values and a clock.
    static let sampleLengthMin = 20
    static let replyLength = 4
    /// Where the id of the request stands to which the payload belongs.
    static let idOffset = 2

    /// Volts that are accepted: twice what the maker gives, 26 V (unverified), and a little below zero, as of an offset.
    package static let voltages: ClosedRange<Float> = -0.1...52
    /// The most amperes in either direction that are accepted: twice what the maker gives, 6 A (unverified).
    static let currentMax: Float = 12

    private let bytes: InlineArray<64, UInt8>
    private let length: Int
    /// All bytes of a payload that `bytes` cannot hold; empty for any other, so that a usual one allocates nothing.
    private let long: [UInt8]

    private func read<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        guard long.isEmpty else { return long.withUnsafeBytes(body) }
        return bytes.withRawBytes { body(UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
    }

    /// What a payload is.
    package enum Kind: Hashable, Sendable {
        /// Voltage, current and a clock, for the start with this id.
        case sample(UInt8)
        /// The answer to a start or a stop. Answers to other requests have the same mark and are longer.
        case reply
        case other

        /// - Parameter payload: of `CT3Framing.payloadLengths`.
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

    /// The id of the request to which it belongs.
    package var id: UInt8 { bytes[Self.idOffset] }

    /// Microseconds since the meter was switched on, at the end of a sample.
    package var microseconds: UInt64 { read { $0.u64LE($0.count - 8) } }

    static var ranges: [Quantity: ClosedRange<Double>] {
        [
            .voltage: Double(voltages.lowerBound)...Double(voltages.upperBound),
            .current: -Double(currentMax)...Double(currentMax),
        ]
    }

    /// The offset of the first field that no meter can have measured, if any; counted from the beginning of the frame.
    static func implausibleOffset(_ payload: UnsafeRawBufferPointer) -> Int? {
        guard case .sample = Kind(payload) else { return nil }
        if !voltages.contains(payload.f32LE(4)) { return CT3Framing.headerLength + 4 }
        if !(-currentMax...currentMax).contains(payload.f32LE(8)) { return CT3Framing.headerLength + 8 }
        return nil
    }
}

extension CT3Message: PackedFrameContent {
    /// - Parameter raw: a payload of `CT3Framing.payloadLengths`, already checked by `CT3Decoder`.
    package init(_ raw: UnsafeRawBufferPointer) {
        bytes = InlineArray(copying: raw)
        length = min(raw.count, 64)
        long = raw.count > 64 ? Array(raw) : []
    }

    /// Not in the payload; the USB ids tell it.
    package var model: ModelName? { nil }

    /// Power is voltage times current, with the current's sign: the meter does not send it, as far as is known.
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

    /// Its own clock tells when it was taken (fqueze/usb-power-profiling usb-power-profiling.js takes it so).
    package var sampleTicks: SampleTicks? {
        guard isSample else { return nil }
        let tick = UInt16(truncatingIfNeeded: microseconds / 1000)
        return SampleTicks(oldest: tick, newest: tick, step: UInt16(CT3Driver.interval_ms), count: 1)
    }

    /// What is not understood, as hex, for whoever wants to find out what it means.
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
