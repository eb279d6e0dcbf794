struct SampleChunkDecoder {
    private let bytes: [UInt8]
    /// Offset of the checksum.
    private let end: Int
    private let quantities: UInt32
    private var offset = 1
    private var state = SampleChunkState()

    init(_ bytes: [UInt8]) throws(ChunkError) {
        guard bytes.count > SampleChunkFormat.checkLength else { throw .tooShort(length: bytes.count) }
        switch bytes[0] {
        case SampleChunkFormat.version: quantities = SampleChunkFormat.quantities
        case SampleChunkFormat.widerVersion: quantities = SampleChunkFormat.widerQuantities
        case SampleChunkFormat.widestVersion: quantities = SampleChunkFormat.widestQuantities
        default: throw .unknownVersion(bytes[0])
        }
        end = bytes.count - SampleChunkFormat.checkLength
        self.bytes = bytes
        let expected = SampleChunkFormat.check(bytes[..<end])
        let found = bytes[end...].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard found == expected else { throw .wrongCheck(expected: expected, found: found) }
    }

    mutating func samples(count: Int) throws(ChunkError) -> [StoredSample] {
        var samples: [StoredSample] = []
        samples.reserveCapacity(max(0, min(count, end / SampleChunkFormat.sampleLengthMin)))
        try forEach(count: count) { samples.append($0) }
        return samples
    }

    /// Passes samples to `body`, even those before an error.
    mutating func forEach(count: Int, _ body: (StoredSample) -> Void) throws(ChunkError) {
        var found = 0
        while offset < end {
            // Stop counting: a wrong count rejects the chunk anyway.
            guard found < count else { throw .wrongCount(expected: count, found: found + 1) }
            body(try sample(isFirst: found == 0))
            found += 1
        }
        guard found == count else { throw .wrongCount(expected: count, found: found) }
    }

    private mutating func sample(isFirst: Bool) throws(ChunkError) -> StoredSample {
        let step = SampleChunkFormat.unzigzag(try number()) &+ state.step
        state.step = isFirst ? 0 : step
        state.time = state.time &+ step
        let changes = try number()
        if changes & SampleChunkFormat.shapeBit != 0 { try readShape() }
        var rest = changes >> 1
        for index in 0..<SampleChunkFormat.columnCount where state.known & 1 << UInt32(index) != 0 {
            if rest & 1 != 0 { try readValue(column: index) }
            rest >>= 1
        }
        guard rest == 0 else { throw .malformed(offset: offset) }
        return StoredSample(time: WallTime(millisecondsSince1970: state.time), reading: reading())
    }

    private mutating func readShape() throws(ChunkError) {
        let supported = try number()
        let known = try number()
        guard supported & ~UInt64(quantities) == 0, known & ~supported == 0 else {
            throw .malformed(offset: offset)
        }
        state.supported = UInt32(truncatingIfNeeded: supported)
        state.known = UInt32(truncatingIfNeeded: known)
    }

    private mutating func readValue(column index: Int) throws(ChunkError) {
        let token = try number()
        if token != SampleChunkFormat.escape {
            let difference = SampleChunkFormat.unzigzag(token)
            return try setInteger(state.columns[index].integer &+ difference, column: index)
        }
        let mark = try byte()
        if mark == SampleChunkFormat.rawMark {
            var bits: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 64, by: 8) { bits |= UInt64(try byte()) << shift }
            let value = Double(bitPattern: bits)
            // A reading never holds infinity or NaN.
            guard value.isFinite else { throw .malformed(offset: offset) }
            state.columns[index].value = value
        } else {
            guard mark <= SampleChunkFormat.exponentMax else { throw .malformed(offset: offset) }
            state.columns[index].exponent = mark
            try setInteger(SampleChunkFormat.unzigzag(try number()), column: index)
        }
    }

    private mutating func setInteger(_ integer: Int64, column index: Int) throws(ChunkError) {
        guard integer.magnitude <= UInt64(SampleChunkFormat.integerMax) else { throw .malformed(offset: offset) }
        state.columns[index].integer = integer
        state.columns[index].value = Double(integer) / SampleChunkFormat.powerOfTen(state.columns[index].exponent)
    }

    private func reading() -> Reading {
        var reading = Reading()
        var rest = state.supported
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            rest &= rest - 1
            guard let quantity = Quantity(rawValue: UInt8(truncatingIfNeeded: index)) else { continue }
            reading[quantity] = state.known & 1 << UInt32(index) != 0 ? state.columns[index].value : nil
        }
        return reading
    }

    private mutating func byte() throws(ChunkError) -> UInt8 {
        guard offset < end else { throw .malformed(offset: offset) }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func number() throws(ChunkError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            let byte = try byte()
            // The tenth byte of a varint contains only the last of 64 bits.
            guard shift < 63 || byte <= 1 else { throw .malformed(offset: offset) }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw .malformed(offset: offset)
    }
}
