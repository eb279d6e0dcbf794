import Cryptography

/// Finds the end of a message, which a serial line does not mark (Docs/Protocols/KM003C.md).
package struct KM003CFraming: Sendable {
    /// Maximum length, above that of any message of a meter. Headers with a greater length are rejected.
    package static let longest = 4096
    /// Length in bytes of each encrypted part of a memory answer except the last (Docs/Protocols/KM003C.md#logs).
    package static let longestMemoryPiece = 2544

    /// Sender of the messages to look for.
    package enum Side: Sendable {
        /// A meter that answers a driver. Memory and authentication messages are not expected, because each further
        /// kind makes noise look like a message more often.
        case meter
        /// A meter that answers a `MeterTransfer`, such as a log download: includes memory and authentication answers.
        case transfer
        /// A capture of both directions.
        case both
    }

    package enum Extent: Hashable, Sendable {
        case incomplete
        case whole(KM003CKind, length: Int)
        case bad(CodecError)
    }

    package let side: Side

    package init(side: Side) { self.side = side }

    /// Measures the message at the start of `bytes`, which must not be empty.
    package func measure(_ bytes: UnsafeRawBufferPointer) -> Extent {
        guard let kind = KM003CKind(rawValue: bytes.u8(0)) else { return .bad(.noStartMark(found: bytes.u8(0))) }
        guard bytes.count >= KM003CHeader.length else { return .incomplete }
        let header = KM003CHeader(word: bytes.u32LE(0))
        guard isPlausible(header, kind) else { return .bad(.implausibleField(offset: 2)) }
        return switch kind {
        case .data: Self.unlessItSwallows(dataExtent(bytes, header), bytes)
        case .memoryAnswer: Self.memoryAnswerExtent(bytes)
        case .memoryRead, .streamingAuth: bytes.count < 36 ? .incomplete : .whole(kind, length: 36)
        default: .whole(kind, length: KM003CHeader.length)
        }
    }

    private func isPlausible(_ header: KM003CHeader, _ kind: KM003CKind) -> Bool {
        let fromEither = side == .both
        return switch kind {
        case .data: true
        // Reject ID 0, which the driver never uses: many payloads contain a byte and three zeros, which look like such
        // a header.
        case .accept, .reject, .notReadable, .disconnect: header.rawWord == 0 && header.id != 0
        case .memoryRead: fromEither && header.rawWord == 0x0101
        case .memoryAnswer: side != .meter && header.rawWord == 0x0101
        case .streamingAuth:
            side != .meter && KM003CProof.answers.contains(header.rawWord)
                || fromEither && header.rawWord == 0x0200
        case .connect, .stopGraph, .pdMonitorOff: fromEither && header.rawWord == 0
        case .startGraph: fromEither && header.rawWord & 1 == 0 && KM003CRate(index: header.parameter) != nil
        case .pdMonitorOn: fromEither && header.rawWord & 1 == 0 && header.parameter <= 1
        case .getData: fromEither && header.rawWord & 1 == 0 && header.attributes.isSubset(of: .known)
        }
    }

    private func dataExtent(_ bytes: UnsafeRawBufferPointer, _ header: KM003CHeader) -> Extent {
        var offset = KM003CHeader.length
        var seen: KM003CAttributes = []
        while true {
            guard bytes.count >= offset + KM003CPayloadHeader.length else { return .incomplete }
            let payload = KM003CPayloadHeader(word: bytes.u32LE(offset))
            guard payload.isPlausible(from: side), seen.isDisjoint(with: payload.attribute) else {
                let rest = KM003CHeader(word: bytes.u32LE(offset))
                let isEmpty = offset == KM003CHeader.length && header.objectCount == 0 && beginsMessage(rest)
                return isEmpty ? .whole(.data, length: offset) : .bad(.implausibleField(offset: offset))
            }
            seen.formUnion(payload.attribute)
            offset += KM003CPayloadHeader.length
            switch Self.payloadExtent(payload, bytes, at: offset) {
            case .incomplete: return .incomplete
            case .bad(let error): return .bad(error)
            case .whole(let length): offset += length
            }
            guard offset <= Self.longest else { return .bad(.impossibleLength(offset)) }
            guard payload.hasNext else { return bytes.count >= offset ? .whole(.data, length: offset) : .incomplete }
        }
    }

    /// Returns whether a message may begin with this header. If a message begins directly after an answer's header, the
    /// answer is empty.
    private func beginsMessage(_ header: KM003CHeader) -> Bool {
        header.kind.map { isPlausible(header, $0) } ?? false
    }

    /// Rejects a data message that contains the start of the most common answer. The message lost bytes and includes
    /// part of the next answer, or its header was noise.
    private static func unlessItSwallows(_ extent: Extent, _ bytes: UnsafeRawBufferPointer) -> Extent {
        let end =
            switch extent {
            case .bad: 0
            case .incomplete: bytes.count
            case .whole(_, let length): length
            }
        var offset = 1
        while offset < end, offset + adcAnswerStart <= bytes.count {
            // Measurements, the lowest attribute, come first: a header, then a payload header with or without the
            // next-payload bit.
            if bytes[offset] == KM003CKind.data.rawValue, isADCPayloadHeader(bytes.u32LE(offset + 4)) {
                return .bad(.truncated(have: offset))
            }
            offset += 1
        }
        return extent
    }

    private static let adcAnswerStart = KM003CHeader.length + KM003CPayloadHeader.length
    private static let adcPayloadHeader = KM003CPayloadHeader(.adc, size: KM003CADC.length).word
    private static let shortADCPayloadHeader = KM003CPayloadHeader(.adc, size: KM003CADC.shortLength).word

    private static func isADCPayloadHeader(_ word: UInt32) -> Bool {
        let word = word & ~0x8000
        return word == adcPayloadHeader || word == shortADCPayloadHeader
    }

    private enum PayloadExtent {
        case incomplete
        case whole(length: Int)
        case bad(CodecError)
    }

    /// Passes each payload's header and range to `body`. The message must be complete.
    static func forEachPayload(
        in message: UnsafeRawBufferPointer, _ body: (KM003CPayloadHeader, Range<Int>) -> Void
    ) {
        var offset = KM003CHeader.length
        while offset + KM003CPayloadHeader.length <= message.count {
            let header = KM003CPayloadHeader(word: message.u32LE(offset))
            offset += KM003CPayloadHeader.length
            guard case .whole(let length) = payloadExtent(header, message, at: offset) else { return }
            let end = min(offset + length, message.count)
            body(header, offset..<end)
            offset = end
        }
    }

    /// Measures a payload, which may be incomplete.
    private static func payloadExtent(
        _ header: KM003CPayloadHeader, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> PayloadExtent {
        guard header.attribute == .pdTrace, header.size == 0 else { return .whole(length: header.payloadLength) }
        // Two lists of 5-byte records, each preceded by its length in one byte
        // (Docs/Protocols/KM003C.md#usb-power-delivery).
        var length = 0
        for _ in 0..<2 {
            guard bytes.count > offset + length else { return .incomplete }
            let list = Int(bytes.u8(offset + length))
            guard list % 5 == 0 else { return .bad(.impossibleLength(list)) }
            length += 1 + list
        }
        return .whole(length: length)
    }

    private static func memoryAnswerExtent(_ bytes: UnsafeRawBufferPointer) -> Extent {
        guard bytes.count >= KM003CMemoryRange.answerLength else { return .incomplete }
        let expected = Checksum.crc32(bytes[4..<16])
        let found = bytes.u32LE(16)
        guard expected == found else { return .bad(.wrongCheck(expected: expected, found: found)) }
        let range = KM003CMemoryRange(bytes)
        guard range.size <= KM003CMemoryRange.longest else { return .bad(.impossibleLength(Int(range.size))) }
        return .whole(.memoryAnswer, length: KM003CMemoryRange.answerLength)
    }
}

/// Memory range in a memory answer.
package struct KM003CMemoryRange: Hashable, Sendable {
    package static let answerLength = 20
    /// Maximum length in bytes: the most log samples of 16 bytes that a catalogue entry can count. All other memory is
    /// shorter (Docs/Protocols/KM003C.md#logs).
    package static let longest: UInt32 = 65_535 * 16

    package let address: UInt32
    /// Size in bytes, before padding for the cipher.
    package let size: UInt32

    package init(address: UInt32, size: UInt32) {
        self.address = address
        self.size = size
    }

    package init(_ answer: UnsafeRawBufferPointer) {
        address = answer.u32LE(4)
        size = answer.u32LE(8)
    }

    /// Nil if the message is not about memory, or if its encrypted range is invalid.
    init?(in message: UnsafeRawBufferPointer, _ kind: KM003CKind) {
        switch kind {
        case .memoryAnswer:
            self.init(message)
        case .memoryRead:
            let cipher = Array(message.dropFirst(KM003CHeader.length))
            guard let plain = ECBCipher.km003cMemory.decrypted(cipher), plain.count >= 16 else { return nil }
            self = plain.withUnsafeBytes { Self(address: $0.u32LE(0), size: $0.u32LE(4)) }
            guard plain.starts(with: KM003CMemory.range(address: address, size: size)) else { return nil }
        default:
            return nil
        }
    }

    /// Number of encrypted bytes that follow the answer.
    package var encryptedLength: Int { (Int(size) + 15) / 16 * 16 }
}
