package import Domain

/// Consecutive readings of one meter in one piece of bytes: what the store writes at once and keeps as a whole.
///
/// Lossless: every double comes back with the same bits. For the layout see `SampleChunkFormat`.
package struct SampleChunk: Hashable, Sendable {
    package var meter: MeterID
    /// The earliest time in it. Not always the first sample's: the calendar may step back in between.
    package var first: WallTime
    /// The latest time in it.
    package var last: WallTime
    /// How many samples it holds.
    package var count: Int
    package var bytes: [UInt8]

    package init(meter: MeterID, first: WallTime, last: WallTime, count: Int, bytes: [UInt8]) {
        self.meter = meter
        self.first = first
        self.last = last
        self.count = count
        self.bytes = bytes
    }

    /// The samples in the order in which they were appended; an error for a chunk that holds seconds.
    ///
    /// Safe on any bytes: they are checked before they are believed, and the memory taken is bounded by their number.
    package func samples() throws(ChunkError) -> [StoredSample] {
        var decoder = try SampleChunkDecoder(bytes)
        return try decoder.samples(count: count)
    }

    /// Calls `body` for each sample, in the order in which they were appended, without keeping them all.
    package func forEach(_ body: (StoredSample) -> Void) throws(ChunkError) {
        var decoder = try SampleChunkDecoder(bytes)
        try decoder.forEach(count: count, body)
    }
}

/// Why a chunk's bytes cannot be read.
package enum ChunkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Fewer bytes than the smallest chunk has.
    case tooShort(length: Int)
    /// A newer version of this program wrote it.
    case unknownVersion(UInt8)
    /// Some byte is not what was written.
    case wrongCheck(expected: UInt32, found: UInt32)
    /// The sum is right, and yet the bytes make no sense at this offset.
    case malformed(offset: Int)
    /// It holds another number of samples than it says.
    case wrongCount(expected: Int, found: Int)

    package var description: String {
        switch self {
        case .tooShort(let length): "the chunk has only \(length) bytes"
        case .unknownVersion(let version): "the chunk has format version \(version), which this program does not know"
        case .wrongCheck(let expected, let found):
            "the chunk's check is \(String(found, radix: 16)), its bytes give \(String(expected, radix: 16))"
        case .malformed(let offset): "the chunk makes no sense at byte \(offset)"
        case .wrongCount(let expected, let found): "the chunk says \(expected) samples and holds \(found)"
        }
    }
}
