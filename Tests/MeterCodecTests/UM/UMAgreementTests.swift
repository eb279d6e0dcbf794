import Domain
import MeterSimulator
import Testing

@testable import MeterCodec

/// How the values of a UM block must agree with one another, tested on the blocks of real meters.
struct UMAgreementTests {
    private func decode(_ block: [UInt8], _ decoder: UMDecoder = UMDecoder()) -> [Reading] {
        decodedReadings(block, with: decoder)
    }

    /// A real block with other bytes at some offsets, and the matching check byte.
    private func block(_ real: UMRealBlocks.Block, _ changes: [(offset: Int, bytes: [Int])]) throws -> [UInt8] {
        var block = try hex(real.hex)
        for (offset, bytes) in changes {
            block.replaceSubrange(offset..<offset + bytes.count, with: bytes.map { UInt8($0) })
        }
        if block[0] == 0x0D { block[129] = block.withUnsafeBytes(UMScales.xorCheck) }
        return block
    }

    @Test func realBlocks_areRead_asTheirSourceSays() throws {
        for real in UMRealBlocks.all {
            let bytes = try hex(real.hex)
            try #require(bytes.count == 130)
            for decoder in [UMDecoder(), UMDecoder(expecting: real.model)] {
                let reading = try #require(decode(bytes, decoder).first, "\(real.source)")
                #expect(reading[.voltage] == real.voltage)
                #expect(reading[.current] == real.current)
                #expect(reading[.power] == real.power)
                #expect(reading[.resistance] == real.resistance)
                #expect(reading[.charge] == real.charge_mAh)
                #expect(reading[.energy] == real.energy_Wh)
            }
        }
    }

    /// Of 100,000 blocks with wrong bytes at most 2,400 may come out as readings with a wrong voltage, current, power,
    /// energy or charge. A third each: one to eight bits flipped, one to four bytes replaced, up to eight in a row.
    @Test func corruptedBlocks_showAWrongValue_atMostInTwoPerCent() throws {
        let seed: UInt64 = 20_261_123
        print("UMAgreementTests: seed \(seed)")
        var noise = SplitMix64(seed: seed)
        let real = try UMRealBlocks.all.map { try hex($0.hex) }
        let right = try real.map { try #require(decode($0).first) }
        let main = [Quantity.voltage, .current, .power, .energy, .charge]
        var wrong = 0
        for round in 0..<100_000 {
            let place = round % real.count
            let spoilt = Self.spoilt(real[place], round % 3, &noise)
            for reading in decode(spoilt) where main.contains(where: { reading[$0] != right[place][$0] }) { wrong += 1 }
        }
        print("UMAgreementTests: \(wrong) of 100000 corrupted blocks show a wrong value")
        #expect(wrong <= 2400, "seed \(seed)")
        for place in real.indices { #expect(decode(real[place]) == [right[place]], "seed \(seed)") }
    }

    private static func spoilt(_ block: [UInt8], _ kind: Int, _ noise: inout SplitMix64) -> [UInt8] {
        var block = block
        func below(_ count: Int) -> Int { Int(noise.next() % UInt64(count)) }
        switch kind {
        case 0:
            for _ in 0...below(8) { block[below(block.count)] ^= 1 << UInt8(below(8)) }
        case 1:
            for _ in 0...below(4) { block[below(block.count)] = UInt8(below(256)) }
        default:
            let start = below(block.count)
            for offset in start..<min(block.count, start + 1 + below(8)) { block[offset] = UInt8(below(256)) }
        }
        return block
    }

    /// At 5.02 V: the real current may be anything within a step of what is shown, and so may its power and resistance.
    @Test(arguments: [
        // 0 A, by less than a step: up to 5 mW, and from 5020 ohm on.
        (0x0000, 0, 99_999), (0x0000, 4, 99_999), (0x0000, 4, 50_201), (0x0000, 2, 99_998),
        // 1 mA: cut off or rounded.
        (0x0001, 5, 50_200), (0x0001, 7, 33_467), (0x0001, 9, 25_250), (0x0001, 3, 99_999),
    ])
    func currentOfAFewSteps_isRead(current: Int, milliwatts: Int, tenthsOfAnOhm: Int) throws {
        let block = try block(
            UMRealBlocks.a3b,
            [
                (4, [0, current]), (6, [0, 0, 0, milliwatts]),
                (122, [0, tenthsOfAnOhm >> 16, tenthsOfAnOhm >> 8 & 0xFF, tenthsOfAnOhm & 0xFF]),
            ])
        #expect(decode(block).count == 1)
    }

    /// A UM25C in its own steps: 5.0213 V and 43.6 µA, of which it shows 0.0000 A; 260 µA, of which it shows 0.0002 or
    /// 0.0003 A; 1.5 A with a power one per cent off.
    @Test(arguments: [
        (5021, 0, 0, 99_999), (5021, 2, 1, 99_999), (5021, 3, 1, 99_999), (5021, 3, 2, 99_999),
        (5021, 15_000, 7531, 33), (5021, 15_000, 7600, 33), (5021, 15_000, 7460, 33),
    ])
    func um25c_isRead_inItsFinerSteps(voltage: Int, current: Int, milliwatts: Int, tenthsOfAnOhm: Int) throws {
        func bytes(_ number: Int, _ count: Int) -> [Int] { (0..<count).reversed().map { number >> (8 * $0) & 0xFF } }
        let block = try block(
            UMRealBlocks.a3b,
            [
                (0, [0x09, 0xC9]), (2, bytes(voltage, 2)), (4, bytes(current, 2)), (6, bytes(milliwatts, 4)),
                (122, bytes(tenthsOfAnOhm, 4)),
            ])
        #expect(decode(block).count == 1)
    }

    /// Each is one wrong byte in a real block: in voltage, current, power, resistance, mode, a group's charge and
    /// energy, and the recorder's.
    @Test(arguments: [
        (3, 0xA0, 6), (5, 0x42, 6), (9, 0x7B, 6), (125, 0x6C, 122), (101, 0x09, 100), (18, 0x11, 16), (22, 0x87, 16),
        (30, 0x01, 24), (34, 0x01, 32), (104, 0x41, 102),
    ])
    func valueThatFitsNoOther_isNoBlock(offset: Int, byte: Int, field: Int) throws {
        var decoder = UMDecoder()
        decoder.append(try block(UMRealBlocks.a3b, [(offset, [byte])]))
        guard case .skipped(_, .implausibleField(offset: field)) = decoder.next() else {
            Issue.record("\(byte) at \(offset) passed")
            return
        }
    }

    /// A published block had 99999 mAh beside 797730 mWh, and one of Samsung's chargers shows up as mode 8.
    @Test func fullCounter_andEveryMode_areRead() throws {
        let full = try block(UMRealBlocks.a3b, [(24, [0x00, 0x01, 0x86, 0x9F, 0x00, 0x0C, 0x2C, 0x22])])
        #expect(decodedFrames(full, with: UMDecoder()).first?.content.groups[1].energy_mWh == 797_730)
        for mode in [[0, 8], [0xFF, 0xFF]] {
            #expect(try decode(block(UMRealBlocks.a3b, [(100, mode)])).count == 1)
        }
        // A milliampere-hour more than the counter can hold.
        #expect(try decode(block(UMRealBlocks.a3b, [(24, [0x00, 0x01, 0x86, 0xA0, 0x00, 0x0C, 0x2C, 0x22])])).isEmpty)
    }

    /// A firmware whose resistance nobody can explain: five blocks are lost, and no more.
    @Test func meterThatNeverAgrees_isReadFromTheSixthBlockOn() throws {
        let odd = try block(UMRealBlocks.a3b, [(122, [0, 0, 0, 1])])
        let good = try hex(UMRealBlocks.a3b.hex)
        let stream = [UInt8]((0..<8).flatMap { _ in odd })
        for chunk in [1, 20, 130, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: UMDecoder())
            #expect(frames == [odd, odd, odd])
            #expect(skipped == 5 * 130)
        }
        // After three that agree, agreement is required again.
        let (frames, _) = DecoderVerifier.feed(stream + good + good + good + odd, chunk: 130, to: UMDecoder())
        #expect(frames == [odd, odd, odd, good, good, good])
        // After one that agrees in between, the count starts again.
        let mixed = (0..<10).flatMap { $0 == 4 ? good : odd }
        #expect(DecoderVerifier.feed(mixed, chunk: 130, to: UMDecoder()).frames == [good])
    }

    @Test func editedBlock_isShown_whenNothingIsEnforced() throws {
        let edited = try block(UMRealBlocks.um34c, [(4, [0x01, 0x48])])
        #expect(decode(edited).isEmpty)
        #expect(decode(edited, UMDecoder(enforcesTrailer: false)).count == 1)
    }

    private static func bytes(_ number: Int, _ count: Int) -> [Int] {
        (0..<count).reversed().map { number >> (8 * $0) & 0xFF }
    }

    /// Every group's counters and the recorder's: a charge with the least and the greatest energy that go with it.
    @Test(arguments: Array(0..<10) + [102])
    func counters_agree_withinTheirBounds(place: Int) throws {
        let offset = place < 10 ? 16 + 8 * place : place
        for (charge, energy, agrees) in [
            (0, 0, true), (0, 30, true), (0, 31, false), (10, 4, true), (10, 3, false), (10, 330, true),
            (10, 331, false), (11, 5, true), (11, 4, false), (99_998, 2_999_970, true), (99_998, 2_999_971, false),
            (99_999, 49_999, true), (99_999, 49_998, false), (99_999, 999_999_999, true),
            (99_999, 1_000_000_000, false),
            (100_000, 100_000, false),
        ] {
            let block = try block(
                UMRealBlocks.a3b, [(offset, Self.bytes(charge, 4) + Self.bytes(energy, 4))])
            var decoder = UMDecoder()
            decoder.append(block)
            let step = decoder.next()
            if case .skipped(_, .implausibleField(offset: offset)) = step {
                #expect(!agrees, "\(charge) mAh, \(energy) mWh")
            } else {
                #expect(agrees, "\(charge) mAh, \(energy) mWh: \(String(describing: step))")
            }
        }
    }

    /// Every field that has bounds of its own, at its end and one beyond, where nothing else is enforced.
    @Test func fields_haveBounds() throws {
        var bounds: [(model: ModelName, offset: Int, width: Int, max: Int)] = [
            (.um24c, 2, 2, 3000), (.um24c, 4, 2, 3750), (.um24c, 6, 4, 112_500),
            (.um25c, 2, 2, 30_000), (.um25c, 4, 2, 62_500), (.um25c, 6, 4, 187_500),
            (.um34c, 2, 2, 3000), (.um34c, 4, 2, 5000), (.um34c, 6, 4, 150_000),
        ]
        let ofAll: [(offset: Int, width: Int, max: Int)] = [
            (14, 2, 9), (96, 2, 3000), (98, 2, 3000), (110, 2, 30), (116, 2, 1), (112, 4, 0xFF_FFFF), (118, 2, 15),
            (120, 2, 5), (122, 4, 999_999), (126, 2, 9),
        ]
        for bound in ofAll { bounds.append((.um24c, bound.offset, bound.width, bound.max)) }
        for (model, offset, width, max) in bounds {
            let word = UMScales.modelText.first { $0.model == model }?.word ?? 0
            for (value, isPossible) in [(0, true), (max, true), (max + 1, false)] {
                let block = try block(
                    UMRealBlocks.a3b, [(0, Self.bytes(Int(word), 2)), (offset, Self.bytes(value, width))])
                let count = decode(block, UMDecoder(enforcesTrailer: false)).count
                #expect((count == 1) == isPossible, "\(model) at \(offset): \(value)")
            }
        }
    }

    /// Celsius from -50 to 150, and Fahrenheit within three degrees of it, or anything down to -60 where the meter shows 0.
    @Test func temperatures_agree_withinTheirBounds() throws {
        for (celsius, fahrenheit, agrees) in [
            (25, 77, true), (25, 80, true), (25, 81, false), (25, 74, true), (25, 73, false), (0, 32, true),
            (0, 35, true),
            (0, 36, false), (0, -60, true), (0, -61, false), (-1, -60, false), (1, 31, true), (1, 30, false),
            (-50, -58, true), (-51, -60, false), (150, 302, true), (151, 304, false), (0x7FFF, 0, false),
            (-32_768, 0, false),
        ] {
            let block = try block(
                UMRealBlocks.a3b, [(10, Self.bytes(celsius & 0xFFFF, 2) + Self.bytes(fahrenheit & 0xFFFF, 2))])
            let count = decode(block, UMDecoder(enforcesTrailer: false)).count
            #expect((count == 1) == agrees, "\(celsius) and \(fahrenheit)")
        }
    }

    /// Beside a restatement of the rule: what is asked for, after whatever came. Printed with its seed.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func agreement_isAskedFor_asTheLastBlocksSay(seed: UInt64) {
        var rng = SplitMix64(seed: seed)
        var score = UMAgreementScore()
        var isAskedFor = true
        // Since it was last decided: nil for a block that agrees, a number for one that does not, "rubbish" for none.
        var run: [Int?] = []
        for _ in 0..<300 {
            #expect(score.isAskedFor == isAskedFor, "seed \(seed)")
            let event = rng.next() % 16
            if event == 0 {
                score.noteRubbish()
                if isAskedFor { run = [] }
                continue
            }
            let error: Int? = event < (isAskedFor ? 3 : 12) ? nil : event == 15 ? 16 : 122
            score.note(error.map { .implausibleField(offset: $0) })
            if isAskedFor {
                if error == nil || run.last != error { run = [] }
                if error != nil { run.append(error) }
                if run.count == 5 { (isAskedFor, run) = (false, []) }
            } else {
                run = error == nil ? run + [nil] : []
                if run.count == 3 { (isAskedFor, run) = (true, []) }
            }
        }
    }
}
