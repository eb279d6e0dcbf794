package import Domain

/// Packs a meter's readings as they come. See `SampleChunkFormat` for what it writes.
package struct SampleChunkBuilder: Sendable {
    package let meter: MeterID
    /// How many samples wait in it.
    package private(set) var count = 0
    private var bytes: [UInt8] = []
    private var state = SampleChunkState()
    private var first = Int64.max
    private var last = Int64.min

    package init(meter: MeterID) { self.meter = meter }

    /// A chunk spans at most an hour, so that one step of the calendar makes none of many years.
    private static let spanMax: Int64 = 3_600_000

    /// Whether a sample of that time belongs into the next chunk.
    package func isFar(_ time: WallTime) -> Bool {
        let milliseconds = time.millisecondsSince1970
        // Of an empty chunk, the sample itself is both ends.
        let (span, overflow) = max(last, milliseconds).subtractingReportingOverflow(min(first, milliseconds))
        return overflow || span > Self.spanMax
    }

    /// How many bytes `finish` would give.
    package var byteCount: Int { count == 0 ? 0 : bytes.count + SampleChunkFormat.checkLength }

    /// Adds a sample. The time may lie before the last one's.
    ///
    /// Runs for every reading of every meter, so it compares plain numbers (comparing the types that hold them is a
    /// call into another module each time) and asks the reading for each value once.
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
            if supported & ~SampleChunkFormat.quantities != 0 { bytes[0] = SampleChunkFormat.widerVersion }
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

    /// The samples so far as a chunk, nil when there are none. The builder is empty after it.
    package mutating func finish() -> SampleChunk? {
        guard count > 0 else { return nil }
        let check = SampleChunkFormat.check(bytes[...])
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: check >> shift)) }
        let chunk = SampleChunk(
            meter: meter, first: WallTime(millisecondsSince1970: first), last: WallTime(millisecondsSince1970: last),
            count: count, bytes: bytes)
        self = SampleChunkBuilder(meter: meter)
        // The next chunk will be about as long: room at once, so that appending does not allocate.
        bytes.reserveCapacity(chunk.bytes.count + 64)
        return chunk
    }

    private mutating func putTime(_ time: Int64) {
        let step = time &- state.time
        put(SampleChunkFormat.zigzag(step &- state.step))
        // The first "step" is from 1970; the second is not to be compared with that.
        state.step = count == 1 ? 0 : step
        state.time = time
    }

    /// Writes which known quantities differ from the sample before, puts their new values into the columns, and
    /// returns which they are.
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

    /// Writes the column's value, which has just changed.
    private mutating func putValue(column index: Int) {
        let column = state.columns[index]
        // Equal after a raw value in between: a difference of 0 would read as the escape.
        if let integer = SampleChunkFormat.integer(for: column.value, exponent: column.exponent),
            integer != column.integer
        {
            put(SampleChunkFormat.zigzag(integer &- column.integer))
            state.columns[index].integer = integer
        } else {
            putEscaped(column.value, column: index)
        }
    }

    /// A value that the column's scale does not hold: in the coarsest scale that does, or as it is.
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

    /// Seven bits a byte, the lowest first, the top bit set where more follow.
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
