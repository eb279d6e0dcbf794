import Domain

/// History of the meter's own USB PD state machine: two lists of 5-byte records, each preceded by its length in one
/// byte (Docs/Protocols/KM003C.md#usb-power-delivery).
///
/// Names are from okhsunrog/km003c-protocol-research, docs/features/pd_trace.md, for firmware 1.9.9. Messages do not
/// contain the firmware version, so the codes are stored too.
package struct KM003CPDTrace: Hashable, Sendable {
    package static let recordLength = 5

    package struct Record: Hashable, Sendable {
        package var code: UInt8
        /// Timestamp by the meter's clock.
        package var seconds: UInt32

        package init(code: UInt8, seconds: UInt32) {
            self.code = code
            self.seconds = seconds
        }
    }

    package let states: [Record]
    package let protocolEvents: [Record]

    /// Nil unless the bytes contain two lists of complete records.
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
            FrameDetail("pd_state_names", .text(Self.names(states, Self.stateName))),
            FrameDetail("pd_protocol_events", .text(Self.text(protocolEvents))),
            FrameDetail("pd_protocol_event_names", .text(Self.names(protocolEvents, Self.eventName))),
        ]
    }

    private static func text(_ records: [Record]) -> String {
        records.map { "\(Hex.encode([$0.code]))@\($0.seconds)" }.joined(separator: " ")
    }

    private static func names(_ records: [Record], _ name: (UInt8) -> String?) -> String {
        records.map { name($0.code) ?? Hex.encode([$0.code]) }.joined(separator: " ")
    }

    /// Returns the name of a state of the Type-C machine; nil for an unnamed code.
    package static func stateName(_ code: UInt8) -> String? {
        stateNames.indices.contains(Int(code)) ? stateNames[Int(code)] : nil
    }

    /// Returns the name of an event of the protocol state machine. Codes 52 and 76 to 78 were also seen; their meaning
    /// is unknown.
    package static func eventName(_ code: UInt8) -> String? {
        switch code {
        case 0x00: "Disabled"
        case 0x82: "MessageReceived"
        case 0x83: "ChunkRequested"
        default: nil
        }
    }

    /// Names by code, from 00 to 24.
    private static let stateNames = [
        "Disabled", "DelayUnattached", "AttachedResistance", "TryResistance", "AttachedDebSource",
        "UnattachedDebSource", "AttachWaitDebSource", "TryDebSource", "AttachedSource", "UnattachedSource",
        "AttachWaitSource", "TryWaitSource", "TrySource", "DebugAccessorySource", "AttachedCable", "IllegalCable",
        "AttachWaitCable", "AttachWaitMonitorDefective", "AttachedLightningPlug", "AttachWaitLightningPlug",
        "AttachedDebSink", "AttachWaitDebSink", "TryWaitDebSink", "AttachedSink", "AttachWaitSink", "TryWaitSink",
        "TrySink", "DebugAccessorySink", "AttachedMonitor", "AttachWaitMonitor", "CableCross", "CablePlugShortCircuit",
        "ErrorRecovery", "PoweredAccessory", "UnsupportedAccessory", "AudioAccessory", "AttachWaitAccessory",
    ]
}
