/// Consecutive readings of one meter as stored bytes. Lossless: every double is restored exactly. Layout:
/// `SampleChunkFormat`.
package struct SampleChunk: Hashable, Sendable {
    package var meter: MeterID
    /// Earliest time, not always the first sample's, because the system clock may step back.
    package var first: WallTime
    package var last: WallTime
    package var count: Int
    package var bytes: [UInt8]

    package init(meter: MeterID, first: WallTime, last: WallTime, count: Int, bytes: [UInt8]) {
        self.meter = meter
        self.first = first
        self.last = last
        self.count = count
        self.bytes = bytes
    }

    /// Returns samples in the order appended; throws for a chunk of seconds. Safe on any bytes: checks them first, and
    /// their number limits the memory used.
    package func samples() throws(ChunkError) -> [StoredSample] {
        var decoder = try SampleChunkDecoder(bytes)
        return try decoder.samples(count: count)
    }

    /// Passes samples in the order appended, without keeping all in memory.
    package func forEach(_ body: (StoredSample) -> Void) throws(ChunkError) {
        var decoder = try SampleChunkDecoder(bytes)
        try decoder.forEach(count: count, body)
    }
}

package enum ChunkError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort(length: Int)
    /// A newer version wrote the chunk.
    case unknownVersion(UInt8)
    /// The checksum differs, so some byte changed.
    case wrongCheck(expected: UInt32, found: UInt32)
    /// The checksum is right, but the bytes at `offset` are invalid.
    case malformed(offset: Int)
    case wrongCount(expected: Int, found: Int)

    package var description: String {
        switch self {
        case .tooShort(let length): "the chunk has only \(length) bytes"
        case .unknownVersion(let version): "the chunk has format version \(version), which this program does not know"
        case .wrongCheck(let expected, let found):
            "the chunk's checksum is \(String(found, radix: 16)), but its bytes give \(String(expected, radix: 16))"
        case .malformed(let offset): "the chunk is invalid at byte \(offset)"
        case .wrongCount(let expected, let found): "the chunk should hold \(expected) samples, but holds \(found)"
        }
    }
}
