import Domain

/// A USB Power Delivery message without its checksum.
package struct PDMessage: Hashable, Sendable {
    /// Addressee: 0 is the partner, 1 and 2 are the cable's plugs. Any other value is the meter's code.
    package let sop: UInt8
    /// Header and objects.
    package let bytes: [UInt8]

    package init(sop: UInt8 = 0, bytes: [UInt8]) {
        self.sop = sop
        self.bytes = bytes
    }

    package var header: PDHeader? {
        guard bytes.count >= PDHeader.length else { return nil }
        return PDHeader(word: bytes.withUnsafeBytes { $0.u16LE(0) })
    }

    /// Objects of a data message, as far as the bytes contain them.
    package var objects: [UInt32] {
        guard let header, header.kind == .data else { return [] }
        return bytes.withUnsafeBytes { raw in
            (0..<header.objectCount).map { PDHeader.length + 4 * $0 }.filter { $0 + 4 <= raw.count }.map(raw.u32LE)
        }
    }

    /// Offers in a source's list of capabilities; empty for any other message.
    package var sourceCapabilities: [PDOffer] {
        guard let header, header.kind == .data, header.type == PDHeader.sourceCapabilities else { return [] }
        return PDOffer.all(in: objects)
    }

    /// Offers in a sink's list of capabilities; empty for any other message.
    var sinkCapabilities: [PDOffer] {
        guard let header, header.kind == .data, header.type == PDHeader.sinkCapabilities else { return [] }
        return PDOffer.all(in: objects)
    }

    /// Second header of an extended message (6.2.1.2); nil for any other message.
    package var chunk: Chunk? {
        guard let header, header.kind == .extended, bytes.count >= Self.chunkStart else { return nil }
        let word = bytes.withUnsafeBytes { $0.u16LE(PDHeader.length) }
        return Chunk(number: Int(word >> 11 & 15), isRequest: word & 0x0400 != 0, dataSize: Int(word & 0x1FF))
    }

    /// Data of the chunk, padded with zeros to whole objects; may be empty.
    package var chunkBytes: ArraySlice<UInt8> { chunk == nil ? [] : bytes.dropFirst(Self.chunkStart) }

    private static let chunkStart = PDHeader.length + 2

    package struct Chunk: Hashable, Sendable {
        /// Number of the chunk, from 0.
        package var number: Int
        /// Whether the message requests this chunk.
        package var isRequest: Bool
        /// Length of all chunks together, in bytes.
        package var dataSize: Int

        package init(number: Int, isRequest: Bool, dataSize: Int) {
            self.number = number
            self.isRequest = isRequest
            self.dataSize = dataSize
        }
    }

    /// Name of the ordered set before the message, such as SOP.
    package var sopName: String {
        switch sop {
        case 0: "SOP"
        case 1: "SOP'"
        case 2: "SOP''"
        default: "SOP\(sop)"
        }
    }
}

extension PDMessage: CustomStringConvertible {
    package var description: String {
        guard let header else { return "\(sopName) \(Hex.encode(bytes))" }
        let text = "\(sopName) \(header.title) #\(header.id)"
        guard let meaning = PDMeaning(of: self, offers: []).words else { return text }
        return "\(text): \(meaning)"
    }
}
