import Domain

/// Splits a PPK2's bytes into its metadata and windows of samples (Docs/Protocols/PPK2.md).
///
/// Samples have no start mark and no checksum, only a counter of six bits. The decoder is in step while the counter
/// rises by one. At a gap, the next samples decide whether samples were lost or bytes are damaged. After damage, it
/// searches for five samples with successive counters. Samples before the metadata are skipped, because nothing
/// calibrates them.
package struct PPK2Decoder: BufferedFrameDecoder {
    package static let samplesPerSecond = 100_000
    package static let samplesPerMillisecond = 100
    /// Readings a second, each from a window of samples.
    package static let rates = [10, 50, 1000]

    package var buffer = ReceiveBuffer(capacity: 16_384)
    /// Readings a second, one of `rates`. A change takes effect with the next window.
    package var rate: Int
    private var metadata: PPK2Metadata?
    /// Voltage that the PPK2 was told to supply, in millivolts; nil as an ammeter or while the output is off. The
    /// offsets of the ranges depend on it.
    var source_mV: Int? { didSet { metadata?.regulate(to: source_mV) } }
    private var filter = PPK2SpikeFilter()
    /// Whether the next waiting byte begins a sample. If false, the decoder looks for samples or metadata.
    private var isInStep = false
    /// Counter of the next sample; nil before the first one.
    private var expected: UInt32?
    /// Number of the next sample since the metadata, including lost samples.
    private var index = 0
    private var window = PPK2Window()
    /// Number of waiting bytes that are in the window already.
    private var windowBytes = 0
    /// Number of waiting bytes already searched for the end of the metadata.
    private var searchedBytes = 0

    /// Number of successive samples that prove where samples begin: noise passes about once in 200 million places.
    private static let proofCount = 5
    private static let proofLength = proofCount * PPK2Sample.length

    package init(rate: Int = 1000) {
        self.rate = rate
    }

    package mutating func reset() -> Int {
        let count = buffer.count
        self = PPK2Decoder(rate: rate)
        return count
    }

    package mutating func next() -> DecodeStep? {
        if isInStep {
            if let metadata, fillWindow(metadata.ranges) { return takeWindow() }
            guard !isInStep else { return nil }
            if window.hasBegun {
                // Let the next window begin with the samples after the damage, so that no two windows have the same
                // time.
                let end = window.end
                defer { index = end }
                return takeWindow()
            }
        }
        return search()
    }

    // MARK: Samples

    /// Adds waiting samples to the window, up to the window's end. Returns whether the window is complete. Clears
    /// `isInStep` at damaged bytes.
    private mutating func fillWindow(_ ranges: InlineArray<5, PPK2Range>) -> Bool {
        // Local copies, because this loop runs 100,000 times a second.
        var (window, filter, index, place) = (window, filter, index, windowBytes)
        var expected = expected ?? 0
        let length = Self.samplesPerSecond / rate
        let (isComplete, isDamaged) = buffer.withBytes { bytes -> (Bool, Bool) in
            while place + PPK2Sample.length <= bytes.count {
                let sample = PPK2Sample(word: bytes.u32LE(place))
                if sample.counter != expected || sample.range >= PPK2Sample.rangeCount {
                    guard bytes.count - place >= Self.proofLength else { return (false, false) }
                    guard Self.isProof(bytes, at: place) else { return (false, true) }
                    let lost = Int((sample.counter &- expected) & PPK2Sample.counterMask)
                    // The lost samples complete the window; the current sample begins the next one.
                    if window.hasBegun, index + lost >= window.end { return (true, false) }
                    index += lost
                    window.lose(lost)
                }
                if !window.hasBegun { window.begin(at: index, length: length) }
                let current = ranges[Int(sample.range)].current(sample.converter)
                if PPK2Window.currents.contains(current) {
                    window.add(filter.filter(current, range: sample.range))
                } else {
                    window.lose(1)
                }
                expected = (sample.counter &+ 1) & PPK2Sample.counterMask
                index += 1
                place += PPK2Sample.length
                if index == window.end { return (true, false) }
            }
            return (false, false)
        }
        (self.window, self.filter, self.index, windowBytes) = (window, filter, index, place)
        self.expected = expected
        if isDamaged { isInStep = false }
        return isComplete
    }

    private mutating func takeWindow() -> DecodeStep {
        buffer.take(windowBytes)
        window.source_mV = source_mV
        defer { (window, windowBytes) = (PPK2Window(), 0) }
        return .frame(.other(window))
    }

    /// Returns whether five samples with successive counters begin at `place`.
    private static func isProof(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Bool {
        let first = PPK2Sample(word: bytes.u32LE(place)).counter
        return (0..<proofCount).allSatisfy { number in
            let sample = PPK2Sample(word: bytes.u32LE(place + number * PPK2Sample.length))
            return sample.range < PPK2Sample.rangeCount
                && sample.counter == (first &+ UInt32(number)) & PPK2Sample.counterMask
        }
    }

    // MARK: Searching

    private enum Find {
        case nothing
        case undecided
        case samples(counter: UInt32)
        case text(length: Int)
    }

    /// Skips bytes up to the metadata or, once it is known, up to a sample.
    private mutating func search() -> DecodeStep? {
        let isReady = metadata != nil
        var (offset, searched) = (0, searchedBytes)
        let find = buffer.withBytes { bytes -> Find in
            while offset < bytes.count {
                switch Self.find(bytes, at: offset, isReady: isReady, searched: &searched) {
                case .nothing: (offset, searched) = (offset + 1, 0)
                case let found: return found
                }
            }
            return .undecided
        }
        searchedBytes = searched
        guard offset == 0 else {
            let first = buffer[0]
            buffer.drop(offset)
            return .skipped(count: offset, because: isReady ? .implausibleField(offset: 0) : .noStartMark(found: first))
        }
        switch find {
        case .nothing, .undecided: return nil
        case .samples(let counter):
            isInStep = true
            expected = expected ?? counter
            return next()
        case .text(let length): return take(text: length)
        }
    }

    private static func find(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, isReady: Bool, searched: inout Int
    ) -> Find {
        let count = bytes.count - offset
        let beginning = PPK2Metadata.beginning
        if bytes[offset] == beginning[0],
            zip(bytes[offset...], beginning).allSatisfy({ $0 == $1 })
        {
            guard count >= beginning.count else { return .undecided }
            let end = PPK2Metadata.end
            while searched + end.count <= min(count, PPK2Metadata.lengthMax) {
                if bytes[(offset + searched)...].starts(with: end) { return .text(length: searched + end.count) }
                searched += 1
            }
            if count < PPK2Metadata.lengthMax { return .undecided }
        }
        guard isReady else { return .nothing }
        guard count >= proofLength else { return .undecided }
        return isProof(bytes, at: offset)
            ? .samples(counter: PPK2Sample(word: bytes.u32LE(offset)).counter) : .nothing
    }

    /// Stores valid metadata and restarts the sample count for the stream that follows.
    private mutating func take(text length: Int) -> DecodeStep {
        searchedBytes = 0
        let found = buffer.withBytes { PPK2Metadata(UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
        guard let found else {
            buffer.drop(length)
            return .skipped(count: length, because: .implausibleField(offset: 0))
        }
        buffer.take(length)
        (metadata, filter, expected, index) = (found, PPK2SpikeFilter(), nil, 0)
        metadata?.regulate(to: source_mV)
        return .frame(.other(found))
    }
}
