import Domain
import MeterCodec
import MeterSimulator
import Testing

/// The metadata are those of a real PPK2 (hdoordt/ppk2-rs src/types.rs). No samples of one are public.
struct PPK2Tests {
    private static let metadata = SimulatedPPK2.metadata

    private func bytes(_ samples: [PPK2Sample]) -> [UInt8] {
        samples.reduce(into: []) { $0.appendLE($1.word) }
    }

    /// Samples of one current, 100 for each millisecond.
    private func samples(_ counters: some Sequence<Int>, range: UInt32 = 0, converter: UInt32 = 27) -> [UInt8] {
        bytes(
            counters.map {
                PPK2Sample(converter: converter, range: range, counter: UInt32(truncatingIfNeeded: $0), inputs: 0xA5)
            })
    }

    private func windows(of bytes: [UInt8], rate: Int = 1000) -> [PPK2Window] {
        decodedFrames(Self.metadata + bytes, with: PPK2Decoder(rate: rate)).compactMap { $0.content as? PPK2Window }
    }

    private func text(_ change: (inout String) -> Void) -> [UInt8] {
        var text = String(decoding: Self.metadata, as: UTF8.self)
        change(&text)
        return Array(text.utf8)
    }

    // MARK: Values

    /// Computed with ppk2-api-python from the same metadata and samples; the first value is also in ppk2-rs, which has it
    /// from the maker's program. Range 4 keeps its average in the first two samples.
    @Test func current_isThatOfOtherPrograms_alsoAfterAChangeOfTheRange() throws {
        let samples: [(range: UInt32, converter: UInt32, current: Double)] = [
            (0, 27, 2.1454878e-08), (0, 28, 6.5253439e-08), (0, 29, 1.09052e-07), (1, 4000, 0.000360933591393),
            (1, 4010, 0.000657921108508), (1, 4020, 0.000902509427916), (1, 4030, 0.002022630189744),
            (4, 600, 0.00044165163422), (4, 610, 0.00044165163422), (4, 620, 0.028259031521097),
            (4, 630, 0.4720646056939), (4, 640, 0.480073413292982), (4, 650, 0.48809107254608),
            (0, 60, 0.215173204973692), (0, 61, 0.176442299987499), (2, 900, 0.145390944470419),
            (2, 910, 0.11993725908205), (3, 1200, 0.108879837896267), (4, 700, 0.0809009749418),
            (4, 700, 0.0809009749418), (4, 700, 0.107745645062599), (4, 700, 0.528312143621787),
            (4, 700, 0.528312143621787),
        ]
        // The last sample of each window differs between two prefixes; so the sums of windows tell each value.
        func sum(of count: Int) throws -> Double {
            let all = samples.prefix(count).enumerated().map {
                PPK2Sample(converter: $1.converter, range: $1.range, counter: UInt32($0))
            }
            // A damaged byte ends the window; five samples prove where the next begins.
            let window = try #require(windows(of: bytes(all) + [0x13] + self.samples(90..<96)).first)
            var current = 0.0
            window.forEachReading { current = $0[.current] ?? .nan }
            #expect(window.count == count)
            return current * Double(count)
        }
        for count in 6...samples.count {
            let value = try sum(of: count) - sum(of: count - 1)
            #expect(abs(value - samples[count - 1].current) < 4e-8, "\(count)")
        }
    }

    /// A value that is missing, zero or no number is replaced by the maker's; a supply cannot be.
    @Test func metadata_areTold_andCompleted() throws {
        func details(_ bytes: [UInt8]) throws -> [FrameDetail] {
            try #require(decodedFrames(bytes, with: PPK2Decoder()).first).content.details
        }
        func expected(_ missing: Int) -> [FrameDetail] {
            [
                FrameDetail("calibrated", .flag(false)), FrameDetail("missing_calibration_values", .integer(missing)),
                FrameDetail("regulator_mV", .number(3741)), FrameDetail("mode_before", .integer(2)),
            ]
        }
        #expect(try details(Self.metadata) == expected(0))
        for (old, new) in [
            ("R0: 1003.3506\n", ""), ("R0: 1003.3506", "R0: 0"), ("GI2: 0.9609", "GI2: -nan"),
            ("UG1: 1.00", "UG1: 1.2"),
        ] {
            #expect(try details(text { $0.replace(old, with: new) }) == expected(1))
        }
        let device = try #require(decodedFrames(Self.metadata, with: PPK2Decoder()).first).device
        #expect(device == DeviceInfo(model: .ppk2, hardware: "9173"))
        for supply in ["VDD: 0", "VDD: x", "mode: 1"] {
            #expect(decodedFrames(text { $0.replace("VDD: 3741", with: supply) }, with: PPK2Decoder()).isEmpty)
        }
    }

    /// Range 4 at its end would be 20 A.
    @Test func sampleThatAPPK2CannotMeasure_isLeftOut() throws {
        let window = try #require(
            windows(of: samples(0..<50) + samples(50..<55, range: 4, converter: 0x3FFF) + samples(55..<100)).first)
        #expect(window.count == 95 && window.sampleTicks?.lost == 5)
        #expect(try #require(window.spread).greatest[.current]! < 1e-6)
        let none = try #require(windows(of: samples(0..<100, range: 4, converter: 0x3FFF)).first)
        #expect(none.count == 0 && none.spread == nil && none.sampleTicks == nil)
        none.forEachReading { _ in Issue.record("a reading without a sample") }
    }

    // MARK: Windows

    @Test(arguments: [(10, 10_000), (50, 2000), (1000, 100)])
    func window_isOneReading_withItsMeanLeastAndGreatest(rate: Int, length: Int) throws {
        let half = length / 2
        let found = windows(
            of: samples(0..<half) + samples(half..<length, converter: 39) + samples(length..<2 * length), rate: rate)
        #expect(found.map(\.count) == [length, length])
        let window = try #require(found.first)
        let spread = try #require(window.spread)
        let (least, greatest) = (2.1e-8, 5.47e-7)
        #expect(spread == ReadingSpread(count: length, least: reading(least), greatest: reading(greatest)))
        window.forEachReading { #expect($0 == reading(2.84e-7)) }
        let milliseconds = UInt16(length / 100)
        #expect(
            found.map(\.sampleTicks)
                == [milliseconds, 2 * milliseconds].map {
                    SampleTicks(oldest: $0, newest: $0, step: milliseconds, count: 1)
                })
    }

    private func reading(_ current: Double) -> Reading {
        var reading = Reading()
        reading[.current] = current
        return reading
    }

    /// What is missing is counted as far as six bits tell, and never filled in: windows keep their places in time.
    @Test(arguments: [
        (50, 1, [99, 100, 100], [1, 0, 0]), (50, 63, [50, 87, 100], [0, 63, 0]),
        (100, 40, [100, 60, 100], [0, 40, 0]),
        (30, 64, [100, 100, 100], [0, 0, 0]),
    ])
    func gap_isCounted_andNotFilled(place: Int, missing: Int, counts: [Int], lost: [Int]) {
        let found = windows(of: samples(0..<place) + samples((place + missing)..<(300 + missing)))
        #expect(found.prefix(3).map(\.count) == counts)
        #expect(found.prefix(3).map { $0.sampleTicks?.lost } == lost)
        #expect(found.prefix(3).map { $0.sampleTicks?.newest } == [1, 2, 3])
    }

    /// Damaged bytes end a window. The next one has another time.
    @Test(arguments: [1, 2, 3, 5, 18])
    func damagedBytes_areSkipped_andSamplesFoundAgain(count: Int) {
        let rubbish = SplitMix64(seed: UInt64(count)).noise(count)
        let found = windows(of: samples(0..<40) + rubbish + samples(40..<300))
        #expect(found.map(\.count) == [40, 100, 100])
        #expect(found.compactMap { $0.sampleTicks?.newest } == [1, 2, 3])
    }

    @Test func samplesBeforeTheMetadata_areNoReadings() {
        #expect(decodedFrames(samples(0..<1000), with: PPK2Decoder()).isEmpty)
        let frames = decodedFrames(samples(7..<900) + Self.metadata + samples(0..<200), with: PPK2Decoder())
        #expect(frames.map { $0.sampleTicks?.newest } == [nil, 1, 2])
    }

    @Test func stream_isTheSameInAnyPieces_andAmongRubbish() {
        DecoderVerifier.verify(
            frames: [Self.metadata, samples(0..<100), samples(100..<200, range: 2)],
            falseStarts: [Array("Ca".utf8), [0x10, 0x20, 0x30, 0x40, 0x50]], longestPending: 2048
        ) { PPK2Decoder() }
    }

    // MARK: The conversation

    private func talk(_ driver: inout PPK2Driver, _ bytes: [UInt8]) -> [Reading] {
        var readings: [Reading] = []
        driver.receive(bytes) { event in
            if case .frame(let frame) = event { frame.forEachReading { readings.append($0) } }
        }
        return readings
    }

    private static let conversation: [[UInt8]] = [[0x07], [0x19], [0x11, 1], [0x0C, 1], [0x06]]

    @Test func ppk2_isAnAmmeter_thatStaysInThePath() {
        var driver = PPK2Driver(model: .ppk2)
        #expect(driver.opening().map(\.bytes) == Self.conversation)
        #expect(driver.sampling == MeterSampling())
        #expect(talk(&driver, Self.metadata).isEmpty)
        #expect(talk(&driver, samples(0..<20_050)).count == 2)
        #expect(driver.sampling == MeterSampling(rate: 10))
        driver.wantedRate = 1000
        #expect(talk(&driver, samples(20_050..<30_100)).count == 2, "the window of the old rate is finished")
        #expect(talk(&driver, samples(30_100..<31_100)).count == 10)
        driver.wantedRate = nil
        #expect(driver.sampling == MeterSampling(rate: 10))
        #expect(driver.closing().map(\.bytes) == [[0x07]])
        #expect(driver.sampling == MeterSampling())
    }

    @Test func silentPPK2_isAskedAgain_aRequestAPoll() {
        var driver = PPK2Driver(model: .ppk2)
        _ = driver.opening()
        let conversation: [[UInt8]] = [[0x07], [0x19], [], [], [0x11, 1], [0x0C, 1], [0x06]]
        #expect(polls(&driver, 22) == Self.silence + conversation)
        #expect(polls(&driver, 16) == Self.silence + [[0x07]])
        // Samples end it.
        _ = talk(&driver, Self.metadata + samples(0..<10_000))
        #expect(polls(&driver, 16) == Self.silence + [[0x07]])
    }

    // MARK: Source

    private static let silence = [[UInt8]](repeating: [], count: 15)

    private func polls(_ driver: inout PPK2Driver, _ count: Int) -> [[UInt8]] {
        (0..<count).map { _ in driver.poll() }
    }

    /// Sends a command as a session does.
    private func send(_ kind: MeterCommand.Kind, _ number: Int? = nil, to driver: inout PPK2Driver) throws -> [UInt8] {
        let bytes = try driver.encode(MeterCommand(kind, number))
        driver.sent(MeterCommand(kind, number))
        return bytes
    }

    /// The order of the maker's program: the output is off until mode and voltage are set.
    @Test func source_suppliesTheVoltage_untilItIsEnded() throws {
        var driver = PPK2Driver(model: .ppk2, voltageMax: 3600)
        _ = driver.opening()
        #expect(try send(.sourceVoltage, 3300, to: &driver) == [0x0D, 0x0C, 0xE4])
        #expect(driver.isSupplying)
        // What was on its way does not end the change.
        _ = talk(&driver, Self.metadata + samples(0..<10_000))
        let conversation: [[UInt8]] = [
            [0x07], [0x0C, 0], [0x19], [], [], [0x11, 2], [0x0D, 0x0C, 0xE4], [0x0C, 1], [0x06],
        ]
        #expect(polls(&driver, 10) == conversation + [[]])
        var details: [FrameDetail] = []
        driver.receive(Self.metadata + samples(0..<10_000)) { event in
            if case .frame(let frame) = event { details = frame.content.details }
        }
        #expect(details.last == FrameDetail("source_mV", .integer(3300)))
        // While it is on, another voltage takes one request.
        #expect(try send(.sourceVoltage, 1800, to: &driver) == [0x0D, 0x07, 0x08])
        #expect(polls(&driver, 1) == [[]])
        var other = driver
        #expect(other.endSupply() == [0x0C, 0] && !other.isSupplying)
        other = driver
        #expect(other.closing().map(\.bytes) == [[0x0C, 0], [0x07]] && !other.isSupplying)
        other = driver
        _ = polls(&other, 14)
        #expect(polls(&other, 6) == [[0x0C, 0], [0x07], [0x19], [], [], [0x06]] && !other.isSupplying)
        #expect(other.closing().map(\.bytes) == [[0x0C, 0], [0x07]])
        #expect(try send(.sourceOff, to: &driver) == [0x0C, 0])
        #expect(!driver.isSupplying && polls(&driver, 3) == [[], [], []])
        // A change that is under way begins again with the last voltage, or ends.
        _ = try send(.sourceVoltage, 1000, to: &driver)
        _ = polls(&driver, 3)
        _ = try send(.sourceVoltage, 3300, to: &driver)
        #expect(polls(&driver, 9) == conversation)
        _ = try send(.sourceVoltage, 1000, to: &driver)
        _ = driver.opening()
        #expect(!driver.isSupplying && polls(&driver, 3) == [[], [], []])
    }

    private static let refusals: [(voltageMax: Int?, number: Int?, error: CodecError)] = [
        (nil, 3300, .noVoltageLimit),
        (3600, 3601, .commandNumber(MeterCommand(.sourceVoltage, 3601), legal: 800...3600)),
        (3600, 799, .commandNumber(MeterCommand(.sourceVoltage, 799), legal: 800...3600)),
        (5000, nil, .commandNumber(MeterCommand(.sourceVoltage), legal: 800...5000)),
    ]

    @Test(arguments: refusals)
    func voltageThatIsNotAllowed_isRefused(voltageMax: Int?, number: Int?, error: CodecError) {
        let driver = PPK2Driver(model: .ppk2, voltageMax: voltageMax)
        #expect(throws: error) { try driver.encode(MeterCommand(.sourceVoltage, number)) }
    }

    /// Computed with ppk2-api-python from the same metadata and samples.
    @Test(arguments: [
        (800, 0, 27, -1.1971312216661845e-07), (1800, 1, 4000, 0.0020038307641721508),
        (1800, 4, 700, 0.5226041614587866), (5000, 2, 900, 0.003941418116057166),
        (5000, 4, 700, 0.5320145390587867),
    ])
    func offset_followsTheVoltage(millivolts: Int, range: UInt32, converter: UInt32, current: Double) throws {
        var metadata = try #require(Self.metadata.withUnsafeBytes { PPK2Metadata($0) })
        metadata.regulate(to: millivolts)
        #expect(metadata.ranges[Int(range)].converter(for: current) == converter)
    }
}

extension SplitMix64 {
    fileprivate func noise(_ count: Int) -> [UInt8] {
        var copy = self
        return copy.bytes(count)
    }
}
