/// Packs readings in the order of arrival (layout: `SampleChunkFormat`).
package struct SampleChunkBuilder: Sendable {
    package let meter: MeterID
    package private(set) var count = 0
    private var bytes: [UInt8] = []
    private var state = SampleChunkState()
    private var first = Int64.max
    private var last = Int64.min

    package init(meter: MeterID) { self.meter = meter }

    /// Maximum span in milliseconds; otherwise a step of the system clock could create a chunk of many years.
    private static let spanMax: Int64 = 3_600_000

    /// Whether a sample of that time must start a new chunk.
    package func isFar(_ time: WallTime) -> Bool {
        let milliseconds = time.millisecondsSince1970
        let (span, overflow) = max(last, milliseconds).subtractingReportingOverflow(min(first, milliseconds))
        return overflow || span > Self.spanMax
    }

    package var byteCount: Int { count == 0 ? 0 : bytes.count + SampleChunkFormat.checkLength }

    /// Adds a sample, which may be earlier than the last one. Compares raw values, because comparing quantity sets
    /// would call another module for each reading.
    package mutating func append(_ time: WallTime, _ reading: Reading) {
        if count == 0 { bytes.append(SampleChunkFormat.version) }
        count += 1
        let milliseconds = time.millisecondsSince1970
        first = min(first, milliseconds)
        last = max(last, milliseconds)
        putTime(milliseconds)
        let supported = reading.supported.rawValue
        let known = reading.known.rawValue
        let shapeChanged = supported != state.supported || known != state.known
        let changed = putChanges(of: reading, known: known, shapeChanged: shapeChanged)
        if shapeChanged {
            // The chunk gets the highest version that any of its samples needs.
            if supported & ~SampleChunkFormat.widerQuantities != 0 {
                bytes[0] = SampleChunkFormat.widestVersion
            } else if supported & ~SampleChunkFormat.quantities != 0 {
                bytes[0] = max(bytes[0], SampleChunkFormat.widerVersion)
            }
            state.supported = supported
            state.known = known
            put(UInt64(supported))
            put(UInt64(known))
        }
        var rest = changed
        while rest != 0 {
            putValue(column: rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    /// Returns the chunk and empties the builder; nil without samples.
    package mutating func finish() -> SampleChunk? {
        guard count > 0 else { return nil }
        let check = SampleChunkFormat.check(bytes[...])
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: check >> shift)) }
        let chunk = SampleChunk(
            meter: meter, first: WallTime(millisecondsSince1970: first), last: WallTime(millisecondsSince1970: last),
            count: count, bytes: bytes)
        self = SampleChunkBuilder(meter: meter)
        bytes.reserveCapacity(chunk.bytes.count + 64)
        return chunk
    }

    private mutating func putTime(_ time: Int64) {
        let step = time &- state.time
        put(SampleChunkFormat.zigzag(step &- state.step))
        // The first step is the time since 1970, so the next step is not encoded relative to it.
        state.step = count == 1 ? 0 : step
        state.time = time
    }

    /// Writes and returns the set of changed quantities, and stores their values.
    private mutating func putChanges(of reading: borrowing Reading, known: UInt32, shapeChanged: Bool) -> UInt32 {
        var changes = shapeChanged ? SampleChunkFormat.shapeBit : 0
        var bit = SampleChunkFormat.shapeBit << 1
        var changed: UInt32 = 0
        var rest = known
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            if let quantity = Quantity(rawValue: UInt8(truncatingIfNeeded: index)), let value = reading[quantity],
                value.bitPattern != state.columns[index].value.bitPattern
            {
                state.columns[index].value = value
                changes |= bit
                changed |= 1 << UInt32(truncatingIfNeeded: index)
            }
            bit <<= 1
            rest &= rest - 1
        }
        put(changes)
        return changed
    }

    private mutating func putValue(column index: Int) {
        let column = state.columns[index]
        // If the last value was raw, the integer may be unchanged. Its difference of 0 would be decoded as the escape.
        if let integer = SampleChunkFormat.integer(for: column.value, exponent: column.exponent),
            integer != column.integer
        {
            put(SampleChunkFormat.zigzag(integer &- column.integer))
            state.columns[index].integer = integer
        } else {
            putEscaped(column.value, column: index)
        }
    }

    /// Writes the value in the coarsest scale that represents it, or raw.
    private mutating func putEscaped(_ value: Double, column index: Int) {
        put(SampleChunkFormat.escape)
        for exponent in 0...SampleChunkFormat.exponentMax {
            guard let integer = SampleChunkFormat.integer(for: value, exponent: exponent) else { continue }
            bytes.append(exponent)
            put(SampleChunkFormat.zigzag(integer))
            state.columns[index].exponent = exponent
            state.columns[index].integer = integer
            return
        }
        bytes.append(SampleChunkFormat.rawMark)
        let bits = value.bitPattern
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
    }

    /// Writes seven bits per byte, lowest first; the top bit is set if more bytes follow.
    @inline(__always)
    private mutating func put(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
