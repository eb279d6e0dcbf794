package struct APIFrame: Hashable, Sendable {
    package var id: UInt32
    package var body: [UInt8]

    package init(id: UInt32, body: [UInt8]) {
        self.id = id
        self.body = body
    }
}

package enum APISecurity: Hashable, Sendable {
    /// Anyone on the network can read and change the messages.
    case plaintext
    /// - Parameters:
    ///   - key: 32 bytes, not all of them zero.
    ///   - ephemeral: 32 secret random bytes for this connection only.
    case key([UInt8], ephemeral: [UInt8])
}

/// Splits a stream into messages, plain or encrypted, and encodes messages, for client and node. Source of both forms:
/// aioesphomeapi 46.23.0, `_frame_helper/plain_text.py` and `noise.py`.
package struct APIFraming: Sendable {
    package enum Form: Sendable {
        /// A zero byte, the length and the message number as varints, then the message.
        case plaintext
        /// A byte of value 1, the length in two bytes (big-endian), then that many bytes.
        case sealed
    }

    package enum Piece: Hashable, Sendable {
        case message(APIFrame)
        /// Handshake frame, received before `begin`.
        case handshake([UInt8])
    }

    /// Maximum message length in bytes, as in the reference client.
    package static let lengthMax = 65_535
    /// Noise prologue, the same on both sides; includes the empty first frame.
    package static let prologue = Array("NoiseAPIInit".utf8) + [0, 0]

    private let form: Form
    private var buffer: [UInt8] = []
    private var start = 0
    private var ciphers: (sending: NoiseCipher, receiving: NoiseCipher)?

    package init(_ form: Form) { self.form = form }

    /// Starts encryption. Call after both sides' handshake messages.
    package mutating func begin(_ handshake: NoiseHandshake) { ciphers = handshake.split }

    package mutating func append(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    package mutating func bytes(of frame: APIFrame) -> [UInt8] {
        guard form == .sealed else { return FrameWriter.plaintext(frame) }
        return ciphers?.sending.seal(FrameWriter.inner(frame)).map { FrameWriter.sealed($0) } ?? []
    }

    package mutating func next() throws(APIFault) -> Piece? {
        guard start < buffer.count else { return nil }
        switch (form, buffer[start]) {
        case (.plaintext, 0): return try nextMessage()
        case (.sealed, 1): return try nextSealed()
        case (.plaintext, 1): throw .wantsEncryption
        case (.sealed, 0): throw .hasNoKey
        case (_, let other): throw .malformed("a frame begins with 0x\(String(other, radix: 16))")
        }
    }

    private mutating func nextMessage() throws(APIFault) -> Piece? {
        var place = start + 1
        guard let length = try number(at: &place), let id = try number(at: &place) else { return nil }
        guard length <= Self.lengthMax else { throw .malformed("a message of \(length) bytes") }
        guard buffer.count - place >= length else { return nil }
        start = place + length
        return .message(APIFrame(id: UInt32(id), body: Array(buffer[place..<start])))
    }

    /// Decodes a varint of at most four bytes; nil if it is incomplete.
    private func number(at place: inout Int) throws(APIFault) -> Int? {
        var value = 0
        for shift in 0..<4 {
            guard place < buffer.count else { return nil }
            let byte = buffer[place]
            place += 1
            value |= Int(byte & 0x7F) << (7 * shift)
            if byte < 0x80 { return value }
        }
        throw .malformed("a number of more than four bytes")
    }

    private mutating func nextSealed() throws(APIFault) -> Piece? {
        guard buffer.count - start >= 3 else { return nil }
        let length = Int(buffer[start + 1]) << 8 | Int(buffer[start + 2])
        guard buffer.count - start - 3 >= length else { return nil }
        let content = Array(buffer[start + 3..<start + 3 + length])
        start += 3 + length
        guard ciphers != nil else { return .handshake(content) }
        guard let plain = ciphers?.receiving.open(content) else { throw .damaged }
        // Two bytes of message number, two of length. The length is ignored, as in the reference client.
        guard plain.count >= 4 else { throw .malformed("a sealed message of \(plain.count) bytes") }
        return .message(APIFrame(id: UInt32(plain[0]) << 8 | UInt32(plain[1]), body: Array(plain.dropFirst(4))))
    }
}

package enum FrameWriter {
    package static func plaintext(_ frame: APIFrame) -> [UInt8] {
        [0] + ProtoVarint.bytes(UInt64(frame.body.count)) + ProtoVarint.bytes(UInt64(frame.id)) + frame.body
    }

    /// - Parameter bytes: at most 65,535.
    package static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        [1, UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }

    /// Returns message number and length in two bytes each, then the message.
    package static func inner(_ frame: APIFrame) -> [UInt8] {
        [UInt32(frame.id), UInt32(frame.body.count)].flatMap {
            [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)]
        } + frame.body
    }
}
