import Domain

/// USB Power Delivery as the meter sees it: measurements, and the events since the last request
/// (Docs/Protocols/KM003C.md#usb-power-delivery). Little-endian.
package struct KM003CPDStatus: Hashable, Sendable {
    package static let preambleLength = 12

    /// Timestamp by the meter's clock, wrapping.
    package let milliseconds: UInt32
    package let voltage_mV: Int
    package let current_mA: Int
    package let cc1_mV: Int
    package let cc2_mV: Int
    /// Events since the last request, oldest first.
    package let events: [PDEvent]
    /// Bytes from the first unreadable event to the end of the payload; empty in all captures.
    package let rest: [UInt8]

    /// First byte of an unknown event. Its length is unknown too, so later events are lost. The value 05 was reported
    /// (inuchanbt/KM003C-CLI, tests/test_km003c.py).
    package var unknownFlag: UInt8? { rest.first.flatMap { Self.isKnown($0) ? nil : $0 } }

    /// Whether bytes of the last event were lost.
    var isCutShort: Bool { rest.first.map(Self.isKnown) ?? false }

    private static func isKnown(_ flag: UInt8) -> Bool {
        flag == plugMark || flag & 0xC0 == 0x80 && 1 + Int(flag & 0x3F) >= messageStart
    }

    /// Nil for a payload shorter than the fixed first part.
    package init?(_ raw: UnsafeRawBufferPointer) {
        guard raw.count >= Self.preambleLength else { return nil }
        milliseconds = raw.u32LE(0)
        voltage_mV = Int(raw.u16LE(4))
        current_mA = Int(raw.i16LE(6))
        cc1_mV = Int(raw.u16LE(8))
        cc2_mV = Int(raw.u16LE(10))
        var events: [PDEvent] = []
        var offset = Self.preambleLength
        while let (event, length) = Self.event(UnsafeRawBufferPointer(rebasing: raw[offset...]), at: milliseconds) {
            events.append(event)
            offset += length
        }
        self.events = events
        rest = Array(raw[offset...])
    }

    private static let plugMark: UInt8 = 0x45
    private static let plugLength = 6

    /// Nil if the first event is unknown or incomplete.
    private static func event(_ raw: UnsafeRawBufferPointer, at clock: UInt32) -> (PDEvent, length: Int)? {
        guard let first = raw.first else { return nil }
        if first == plugMark {
            guard raw.count >= plugLength else { return nil }
            return (PDEvent(milliseconds: extended(raw.u32LE(1), near: clock), kind: plug(raw.u8(5))), plugLength)
        }
        // The count includes the timestamp, the addressee and the message, but not the first byte itself.
        let length = 1 + Int(first & 0x3F)
        guard first & 0xC0 == 0x80, length >= messageStart, raw.count >= length else { return nil }
        let message = PDMessage(sop: raw.u8(5), bytes: Array(raw[messageStart..<length]))
        return (PDEvent(milliseconds: raw.u32LE(1), kind: .message(message)), length)
    }

    private static let messageStart = 6

    /// Completes an attach or detach timestamp, of which the meter sends only the lower 24 bits, to the one nearest to
    /// `clock` (inuchanbt/KM003C-CLI, km003c_modules).
    private static func extended(_ low: UInt32, near clock: UInt32) -> UInt32 {
        clock &+ UInt32(bitPattern: Int32(bitPattern: (low &- clock) << 8) >> 8)
    }

    /// Decodes a plug code: the upper half is the CC line, the lower half attach or detach (okhsunrog/km003c-rs,
    /// docs/pd_connection_events.md). In both captured attaches, that CC line has a voltage.
    private static func plug(_ code: UInt8) -> PDEvent.Kind {
        guard let line = CCLine(rawValue: Int(code >> 4)) else { return .plug(code: code) }
        switch code & 0x0F {
        case 1: return .attached(line)
        case 2: return .detached(line)
        default: return .plug(code: code)
        }
    }

    package var report: PDReport {
        PDReport(
            milliseconds: milliseconds,
            level: PDLevel(voltage_mV: voltage_mV, current_mA: current_mA, cc1_mV: cc1_mV, cc2_mV: cc2_mV),
            events: events, rest: rest)
    }

    package var details: [FrameDetail] {
        var details = [
            FrameDetail("pd_time_ms", .integer(Int(milliseconds))),
            FrameDetail("pd_voltage_V", .number(Double(voltage_mV) / 1000)),
            FrameDetail("pd_current_A", .number(Double(current_mA) / 1000)),
            FrameDetail("pd_cc1_V", .number(Double(cc1_mV) / 1000)),
            FrameDetail("pd_cc2_V", .number(Double(cc2_mV) / 1000)),
        ]
        for (place, event) in events.enumerated() {
            details.append(FrameDetail("pd_event_\(place + 1)", .text("\(event.milliseconds) ms \(event.kind)")))
        }
        if !rest.isEmpty { details.append(FrameDetail("pd_rest", .text(Hex.encode(rest)))) }
        if let unknownFlag {
            details.append(FrameDetail("pd_unknown_event", .text(Hex.encode([unknownFlag]))))
        }
        return details
    }
}

extension PDNegotiation {
    mutating func heard(_ status: KM003CPDStatus) {
        for event in status.events {
            switch event.kind {
            case .attached, .detached: reset()
            case .message(let message): heard(message)
            case .plug: break
            }
        }
    }
}
