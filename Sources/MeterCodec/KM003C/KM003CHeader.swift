/// First four bytes of a message, a little-endian word (Docs/Protocols/KM003C.md#where-a-message-ends).
package struct KM003CHeader: Hashable, Sendable {
    package static let length = 4

    package let word: UInt32

    package init(word: UInt32) { self.word = word }

    /// - Parameter parameter: an attribute, a rate or a switch, depending on the kind; 15 bits.
    package init(_ kind: KM003CKind, id: UInt8, parameter: UInt16 = 0) {
        word = UInt32(kind.rawValue) | UInt32(id) << 8 | UInt32(parameter & 0x7FFF) << 17
    }

    package var kind: KM003CKind? { KM003CKind(rawValue: UInt8(truncatingIfNeeded: word)) }
    /// ID of the request, which the answer repeats.
    package var id: UInt8 { UInt8(truncatingIfNeeded: word >> 8) }
    /// Upper 15 bits of the header. Only `getData`, `startGraph` and `pdMonitorOn` use them as a parameter.
    package var parameter: UInt16 { UInt16(truncatingIfNeeded: word >> 17) }
    package var attributes: KM003CAttributes { KM003CAttributes(rawValue: parameter) }
    /// Upper half of the header, for memory and authentication messages. Must be 0 in messages without a parameter.
    package var rawWord: UInt16 { UInt16(truncatingIfNeeded: word >> 16) }
    /// Object count of a data message. Captured answers with data also contain 0, so this is no payload length.
    package var objectCount: UInt32 { word >> 22 }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLE(word)
        return bytes
    }
}

/// Kind of a message, by its first byte (Docs/Protocols/KM003C.md#link). Kinds that could reset or change the meter, or
/// start its bootloader, are omitted.
package enum KM003CKind: UInt8, CaseIterable, Sendable {
    case connect = 0x02
    case disconnect = 0x03
    case accept = 0x05
    case reject = 0x06
    case getData = 0x0C
    case startGraph = 0x0E
    case stopGraph = 0x0F
    case pdMonitorOn = 0x10
    case pdMonitorOff = 0x11
    case notReadable = 0x27
    case data = 0x41
    case memoryRead = 0x44
    case streamingAuth = 0x4C
    /// `memoryRead` with the extend bit. Contains the memory range of the data that follow.
    case memoryAnswer = 0xC4

    /// JSON name.
    package var name: String {
        switch self {
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .accept: "accept"
        case .reject: "reject"
        case .getData: "get_data"
        case .startGraph: "start_graph"
        case .stopGraph: "stop_graph"
        case .pdMonitorOn: "pd_monitor_on"
        case .pdMonitorOff: "pd_monitor_off"
        case .notReadable: "not_readable"
        case .data: "data"
        case .memoryRead: "memory_read"
        case .streamingAuth: "streaming_auth"
        case .memoryAnswer: "memory_answer"
        }
    }
}

/// Four bytes before each payload of a data message, a little-endian word
/// (Docs/Protocols/KM003C.md#where-a-message-ends).
package struct KM003CPayloadHeader: Hashable, Sendable {
    package static let length = 4

    package let word: UInt32

    package init(word: UInt32) { self.word = word }

    /// - Parameters:
    ///   - chunk: number of samples in a queue payload, 0 for other payloads; 6 bits.
    ///   - size: length in bytes of the payload, or of one sample of a queue; 10 bits.
    package init(_ attribute: KM003CAttributes, hasNext: Bool = false, chunk: Int = 0, size: Int) {
        word =
            UInt32(attribute.rawValue & 0x7FFF) | (hasNext ? 0x8000 : 0)
            | UInt32(clamping: chunk) << 16 & 0x003F_0000 | UInt32(clamping: size) << 22
    }

    package var attribute: KM003CAttributes { KM003CAttributes(rawValue: UInt16(truncatingIfNeeded: word & 0x7FFF)) }
    package var hasNext: Bool { word & 0x8000 != 0 }
    package var chunk: Int { Int(word >> 16 & 0x3F) }
    package var size: Int { Int(word >> 22) }

    /// Returns whether a meter could have sent this header: one known attribute and a size that fits it.
    ///
    /// Size limits are low, because noise that looks like a header makes the decoder discard `size` bytes of valid
    /// messages. The longest captured payload of `pd` has 88 bytes, of `unknown80` 8 bytes.
    package func isPlausible(from side: KM003CFraming.Side) -> Bool {
        switch attribute {
        case .adc: KM003CADC.isLength(size) && chunk == 0
        case .queue: size == KM003CQueueSample.length || word >> 16 == 0
        case .settings: size == KM003CSettings.length && chunk == 0
        case .pd: (size == 0 || (12...300).contains(size)) && chunk == 0
        case .pdTrace: size == 0 && chunk == 0
        case .unknown80: size <= 32 && chunk == 0
        case .logCatalogue: size % 48 == 0 && (chunk == 0 || size == 48)
        // Never seen in use; no driver requests them.
        case .fastQueue, .quickCharge: side == .both
        default: false
        }
    }

    /// In bytes. A PD trace with size 0 contains its own length (Docs/Protocols/KM003C.md#usb-power-delivery), which
    /// `KM003CFraming` parses.
    package var payloadLength: Int {
        switch attribute {
        case .queue: size * chunk
        case .fastQueue, .logCatalogue: size * max(1, chunk)
        default: size
        }
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLE(word)
        return bytes
    }
}
