import MeterModel

/// What the meter's own USB PD machine went through: two lists, each behind its length in one byte, of records of five
/// bytes (protocols.md 4.6). What the codes stand for is not known.
package struct KM003CPDTrace: Hashable, Sendable {
    package static let recordLength = 5

    package struct Record: Hashable, Sendable {
        package var code: UInt8
        /// The meter's clock.
        package var seconds: UInt32

        package init(code: UInt8, seconds: UInt32) {
            self.code = code
            self.seconds = seconds
        }
    }

    package let states: [Record]
    package let protocolEvents: [Record]

    /// - Returns: nil unless both lists are there, of whole records.
    package init?(_ raw: UnsafeRawBufferPointer) {
        guard let states = Self.list(raw) else { return nil }
        let offset = 1 + states.count * Self.recordLength
        guard let events = Self.list(UnsafeRawBufferPointer(rebasing: raw[offset...])) else { return nil }
        self.states = states
        protocolEvents = events
    }

    private static func list(_ raw: UnsafeRawBufferPointer) -> [Record]? {
        guard let length = raw.first.map({ Int($0) }), length % recordLength == 0, raw.count > length else {
            return nil
        }
        return stride(from: 1, to: 1 + length, by: recordLength).map { offset in
            Record(code: raw.u8(offset), seconds: raw.u32LE(offset + 1))
        }
    }

    package var details: [FrameDetail] {
        [
            FrameDetail("pd_states", .text(Self.text(states))),
            FrameDetail("pd_protocol_events", .text(Self.text(protocolEvents))),
        ]
    }

    /// Each record as its code, hexadecimal, at its second.
    private static func text(_ records: [Record]) -> String {
        records.map { "\(Hex.encode([$0.code]))@\($0.seconds)" }.joined(separator: " ")
    }
}
