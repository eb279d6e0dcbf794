import CoreTestKit
import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SampleChunkTests {
    private let meter = MeterID.mac(MACAddress(bits: 0xAABB_CCDD_EEFF))

    private func sample(_ time: Int64, _ values: [Quantity: Double?]) -> StoredSample {
        var reading = Reading()
        for (quantity, value) in values { reading[quantity] = value }
        return StoredSample(time: WallTime(millisecondsSince1970: time), reading: reading)
    }

    private func packed(_ samples: [StoredSample]) throws -> SampleChunk {
        var builder = SampleChunkBuilder(meter: meter)
        for sample in samples { builder.append(sample.time, sample.reading) }
        let chunk = builder.finish()
        return try #require(chunk)
    }

    /// A chunk of any bytes with a correct check.
    private func sealed(_ bytes: [UInt8], count: Int) -> SampleChunk {
        // FNV-1a as published: offset basis 2166136261, prime 16777619.
        let check = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        var bytes = bytes
        bytes.appendLE(check)
        let time = WallTime(millisecondsSince1970: 0)
        return SampleChunk(meter: meter, first: time, last: time, count: count, bytes: bytes)
    }

    // MARK: - The format, by hand

    @Test func chunk_hasTheBytesOfVersion1() throws {
        let chunk = try packed([
            sample(100, [.voltage: 5.12, .current: nil]),
            sample(600, [.voltage: 5.13, .current: nil]),
            sample(1100, [.voltage: 5.13, .current: nil]),
        ])

        let body: [UInt8] = [
            0x01,  // version
            0xC8, 0x01,  // zigzag(100)
            0x03,  // a shape follows, the first known quantity changed
            0x03, 0x01,  // supported: voltage and current; known: voltage
            0x00, 0x02, 0x80, 0x08,  // a new scale, hundredths; zigzag(512)
            0xE8, 0x07, 0x02, 0x02,  // zigzag(500 longer); voltage changed; zigzag(1)
            0x00, 0x00,  // no longer, nothing changed
        ]
        #expect(Hex.encode(Array(chunk.bytes.dropLast(4))) == Hex.encode(body))
        #expect(chunk == sealedAs(chunk, body: body))
    }

    /// A quantity that version 1 does not know makes it one of version 2; another version 1 is still written.
    @Test func chunk_isOfVersion2_whereItNamesMore() throws {
        let chunk = try packed([sample(100, [.voltage: 5.12]), sample(600, [.voltage: 5.12, .countedEnergy: 0.5])])

        #expect(chunk.bytes[0] == 2)
        #expect(try chunk.samples().last == sample(600, [.voltage: 5.12, .countedEnergy: 0.5]))
        var old = chunk.bytes.dropLast(4)
        old[0] = 1
        #expect(throws: ChunkError.self) { try sealed(Array(old), count: 2).samples() }
        #expect(try packed([sample(0, [.duration: 1])]).bytes[0] == 1)
    }

    private func sealedAs(_ chunk: SampleChunk, body: [UInt8]) -> SampleChunk {
        var same = sealed(body, count: 3)
        same.first = WallTime(millisecondsSince1970: 100)
        same.last = WallTime(millisecondsSince1970: 1100)
        return same
    }

    /// Every quantity that a reading can have is stored, in the oldest version that has room for it.
    @Test func everyQuantity_isStored() throws {
        for quantity in Quantity.allCases {
            let samples = [sample(100, [quantity: 1.5]), sample(600, [quantity: nil]), sample(700, [.voltage: 5])]
            let chunk = try packed(samples)
            #expect(try chunk.samples() == samples, "\(quantity)")
            #expect(chunk.bytes.first == (quantity.rawValue < 16 ? 1 : quantity.rawValue < 18 ? 2 : 4), "\(quantity)")
        }
        let all = Dictionary(uniqueKeysWithValues: Quantity.allCases.map { ($0, Optional(Double($0.rawValue))) })
        // A chunk keeps the version of its widest shape.
        let mixed = [sample(100, all), sample(600, [.countedEnergy: 1])]
        #expect(try packed(mixed).samples() == mixed)
    }

    @Test func chunk_isReadFromBytesOfVersion1() throws {
        // 1 s after 1970, power known as -0.25 in hundredths, then a raw pi, then back to -0.25.
        let pi: [UInt8] = [0x18, 0x2D, 0x44, 0x54, 0xFB, 0x21, 0x09, 0x40]
        let bytes: [UInt8] =
            [0x01, 0xD0, 0x0F, 0x03, 0x04, 0x04, 0x00, 0x02, 0x31]
            + [0x00, 0x02, 0x00, 0xFF] + pi + [0x00, 0x02, 0x00, 0x02, 0x31]

        let samples = try sealed(bytes, count: 3).samples()

        #expect(
            samples == [
                sample(1000, [.power: -0.25]), sample(1000, [.power: 3.141592653589793]), sample(1000, [.power: -0.25]),
            ])
    }

    // MARK: - Nothing is lost

    @Test(arguments: [
        0.0, -0.0, 1, -1, 0.1, 5.12, 5.123456789, 0.1 + 0.2, 1.0 / 3, .pi, 1e-9, 1e-300, 1e300, 99_999_999.875,
        9_007_199_254_740_991, 9_007_199_254_740_994, -9_007_199_254_740_991, Double.greatestFiniteMagnitude,
        Double.leastNonzeroMagnitude, 4_294_967.295,
    ])
    func value_comesBackBitByBit(value: Double) throws {
        let values = [0, value, 5.12, value, value, -value, 0]

        let samples = try packed(values.enumerated().map { sample(Int64($0.offset), [.energy: $0.element]) }).samples()

        #expect(samples.map { $0.reading[.energy]?.bitPattern } == values.map(\.bitPattern))
    }

    @Test func shape_mayChangeInsideAChunk() throws {
        let samples = [
            sample(0, [:]),
            sample(1, [.voltage: 5, .current: nil]),
            sample(2, [.voltage: 5, .current: 1.25]),
            sample(3, [.voltage: nil, .current: 1.25]),
            sample(4, [.voltage: 5.01, .current: 1.25, .duration: 3600, .price: nil]),
            sample(5, [.current: 1.25]),
            sample(6, Dictionary(uniqueKeysWithValues: Quantity.allCases.map { ($0, Double($0.rawValue) / 10) })),
        ]

        #expect(try packed(samples).samples() == samples)
    }

    @Test func times_mayStepAnyhow() throws {
        let times: [Int64] = [1_795_000_000_000, 0, 5, -7, .max, .min, 500, 400, 400]
        let samples = times.map { sample($0, [.voltage: 5]) }

        let chunk = try packed(samples)

        #expect(try chunk.samples() == samples)
        #expect(chunk.first.millisecondsSince1970 == .min)
        #expect(chunk.last.millisecondsSince1970 == .max)
    }

    @Test func random_readingsComeBack() throws {
        for seed in 0..<UInt64(200) {
            var noise = SplitMix64(seed: seed)
            let samples = (0..<50).map { number in
                randomSample(number, &noise)
            }
            #expect(try packed(samples).samples() == samples, "seed \(seed)")
        }
    }

    private func randomSample(_ number: Int, _ noise: inout SplitMix64) -> StoredSample {
        var reading = Reading()
        for quantity in Quantity.allCases where noise.next() % 8 != 0 {
            reading[quantity] =
                switch noise.next() % 6 {
                case 0: nil
                case 1: Double(bitPattern: noise.next())
                case 2: noise.wobble()
                case 3: (noise.wobble() * 1000).rounded() / 10
                default: (noise.wobble() * 50_000).rounded() / 10_000
                }
        }
        let jitter = noise.next() % 100 == 0 ? Int64(bitPattern: noise.next()) : Int64(noise.next() % 1000)
        return StoredSample(time: WallTime(millisecondsSince1970: Int64(number) * 500 &+ jitter), reading: reading)
    }

    // MARK: - The builder

    @Test func builder_isEmpty_afterFinish() throws {
        var builder = SampleChunkBuilder(meter: meter)
        #expect(builder.finish() == nil)
        #expect(builder.byteCount == 0)
        let one = sample(1_795_000_000_000, [.voltage: 5.12])
        builder.append(one.time, one.reading)
        let size = builder.byteCount

        let finished = builder.finish()
        let first = try #require(finished)

        #expect(first.bytes.count == size)
        #expect(builder.count == 0)
        #expect(builder.finish() == nil)
        builder.append(one.time, one.reading)
        #expect(builder.finish() == first, "a chunk stands for itself, whatever came before it")
    }

    @Test func umMeter_takesFewBytes_whenItsValuesWobble() throws {
        for model in [ModelName.um24c, .um25c, .um34c] {
            let samples = umSamples(model, count: 120)

            let chunk = try packed(samples)

            #expect(try chunk.samples() == samples)
            #expect(chunk.bytes.count <= 14 * samples.count, "\(model): \(chunk.bytes.count) bytes")
        }
    }

    /// A minute of a phone that charges, polled twice a second with 20 ms of jitter.
    private func umSamples(_ model: ModelName, count: Int) -> [StoredSample] {
        var simulated = SimulatedUM(model: model)
        var driver = UMDriver(model: model)
        var noise = SplitMix64(seed: 5)
        var samples: [StoredSample] = []
        for number in 1...count {
            let elapsed = Int64(number) * 500
            let time = WallTime(millisecondsSince1970: 1_795_000_000_000 + elapsed + Int64(noise.wobble() * 20))
            for answer in simulated.receive(driver.poll(), at: .milliseconds(elapsed)) {
                driver.receive(answer) { event in
                    guard case .frame(let frame) = event else { return }
                    frame.content.forEachReading { samples.append(StoredSample(time: time, reading: $0)) }
                }
            }
        }
        #expect(samples.count == count)
        return samples
    }

    // MARK: - Bytes that nobody wrote

    @Test func damage_isFound_whereverAByteChanges() throws {
        let chunk = try packed(umSamples(.um25c, count: 20))
        for offset in chunk.bytes.indices {
            var damaged = chunk
            damaged.bytes[offset] ^= 0x10
            #expect(throws: ChunkError.self, "byte \(offset)") { try damaged.samples() }
        }
        for length in 0..<chunk.bytes.count {
            var cut = chunk
            cut.bytes.removeSubrange(length...)
            #expect(throws: ChunkError.self, "cut to \(length)") { try cut.samples() }
        }
    }

    @Test func version_isRefused_whenUnknown() {
        #expect(throws: ChunkError.unknownVersion(3)) { try sealed([0x03, 0x00, 0x00], count: 1).samples() }
    }

    @Test func emptyChunk_holdsNothing_butItsVersion() throws {
        #expect(try sealed([0x01], count: 0).samples().isEmpty)
        #expect(throws: ChunkError.tooShort(length: 0)) {
            try SampleChunk(
                meter: meter, first: WallTime(millisecondsSince1970: 0), last: WallTime(millisecondsSince1970: 0),
                count: 0, bytes: []
            ).samples()
        }
    }

    @Test(arguments: [(2, 3), (4, 3), (0, 1), (-1, 1), (Int.max, 3), (Int.min, 1)])
    func count_isRefused_whenItIsNotTheSamples(claimed: Int, found: Int) throws {
        var chunk = try packed((0..<3).map { sample($0, [.voltage: 5]) })
        chunk.count = claimed
        #expect(throws: ChunkError.wrongCount(expected: claimed, found: found)) { try chunk.samples() }
    }

    @Test(
        arguments: [
            [0x00],  // a time and no more
            [0x00, 0x02],  // a change of a quantity that is not known
            [0x00, 0x01, 0x01, 0x03],  // known, but not supported
            [0x00, 0x01, 0x80, 0x80, 0x04, 0x00],  // a seventeenth quantity
            [0x00, 0x03, 0x01, 0x01, 0x00, 0x0A, 0x02],  // no such scale
            [0x00, 0x03, 0x01, 0x01, 0x00, 0xFF, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F],  // infinity
            [0x00, 0x03, 0x01, 0x01, 0x00, 0xFF, 0, 0, 0, 0],  // half a double
            [0x00, 0x03, 0x01, 0x01, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],  // beyond 2^53
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0x00],  // 65 bits
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],  // no end
        ] as [[UInt8]])
    func sample_isMalformed(bytes: [UInt8]) {
        #expect { try sealed([0x01] + bytes, count: 1).samples() } throws: { error in
            if case .malformed? = error as? ChunkError { true } else { false }
        }
    }

    @Test func anyBytes_endInSamplesOrAnError() throws {
        let good = try packed(umSamples(.um25c, count: 30)).bytes.dropLast(4)
        var decoded = 0
        for seed in 0..<UInt64(3000) {
            var noise = SplitMix64(seed: seed)
            var bytes = seed % 3 == 0 ? [1] + noise.bytes(Int(seed % 200)) : Array(good)
            for _ in 0..<(seed % 6) {
                bytes[1 + Int(noise.next() % UInt64(max(1, bytes.count - 1))) % max(1, bytes.count - 1)] =
                    UInt8(truncatingIfNeeded: noise.next())
            }
            let count = seed % 2 == 0 ? 30 : Int(noise.next() % 64)
            do throws(ChunkError) {
                let samples = try sealed(bytes, count: count).samples()
                #expect(samples.count == count)
                #expect(samples.count <= bytes.count / 2)
                decoded += 1
            } catch {
                continue
            }
        }
        #expect(decoded > 50, "hardly any of the mutants got past the first check")
    }
}
