import Domain
import Testing

@testable import MeterCodec

struct LineDecoderTests {
    private static func pairs(_ change: (inout LineDescription) -> Void = { _ in }) -> LineDescription {
        var current = LineField(.current, name: Array("mA".utf8))
        current.factor = 0.001
        var description = LineDescription(fields: [LineField(.voltage, name: Array("V".utf8)), current])
        change(&description)
        return description
    }

    private static let columns = LineDescription(
        format: .columns, fields: [LineField(.voltage, column: 0), LineField(.current, column: 2)])
    private static let json = LineDescription(
        format: .json, fields: [LineField(.voltage, name: Array("V".utf8)), LineField(.current, name: Array("A".utf8))])

    private func readings(_ text: String, _ description: LineDescription, unchecked: Bool = false) -> [Reading] {
        decodedReadings(Array(text.utf8), with: LineDecoder(description, enforcesCheck: !unchecked))
    }

    /// The voltage of a line that holds nothing else; nil where the line does not fit.
    private func volts(_ text: String) -> Double?? {
        readings("V=\(text)\n", LineDescription(fields: [LineField(.voltage, name: Array("V".utf8))])).first.map {
            $0[.voltage]
        }
    }

    private func error(_ text: String, _ description: LineDescription) -> CodecError? {
        var decoder = LineDecoder(description)
        decoder.append(Array(text.utf8))
        guard case .skipped(_, let error)? = decoder.next() else { return nil }
        return error
    }

    // MARK: Lines

    @Test func lines_areFound_howeverTheyArrive() {
        let lines = ["V=5.02;mA=310\r\n", "mA=311;V=5.01\n", " V = 5.00 ; mA = 312 \r\n"].map { Array($0.utf8) }
        DecoderVerifier.verify(
            frames: lines, rubbish: Array("ready\r\n".utf8),
            falseStarts: [Array("# V=9;mA=9\n".utf8), [0, 0xFF, 0x0A], [0x0A]],
            longestPending: LineDecoder.lengthMax, firstAfterReset: [0x0A], make: { LineDecoder(Self.pairs()) })
    }

    @Test func line_isItsReading() {
        #expect(
            readings("V=5.02;mA=310\n", Self.pairs()).map(\.description) == [
                "voltage_V=5.02 current_A=0.31 power_W=1.5562"
            ])
    }

    @Test func longestLine_isTaken_andALongerOneIsSkippedWhole() {
        let body = "V=1;mA=2;x="
        func line(_ length: Int) -> [UInt8] {
            Array(body.utf8) + [UInt8](repeating: 0x61, count: length - body.utf8.count) + [0x0A]
        }
        for chunk in [1, 64, 4096] {
            let longest = DecoderVerifier.feed(line(512) + line(20), chunk: chunk, to: LineDecoder(Self.pairs()))
            #expect(longest.frames.map(\.count) == [513, 21])
            #expect(longest.skipped == 0)
            let longer = DecoderVerifier.feed(line(513) + line(20), chunk: chunk, to: LineDecoder(Self.pairs()))
            #expect(longer.frames.map(\.count) == [21])
            #expect(longer.skipped == 514)
        }
        var decoder = LineDecoder(Self.pairs())
        decoder.append([UInt8](repeating: 0x61, count: 10_000))
        while decoder.next() != nil {}
        #expect(decoder.pendingCount == 0)
    }

    @Test func restOfALine_isNoReading_butTheNextLineIs() {
        var decoder = LineDecoder(Self.columns, startsMidLine: true)
        decoder.append(Array("02,0,0.31".utf8))
        guard case .skipped(9, .truncated(have: 9))? = decoder.next() else { return #expect(Bool(false)) }
        #expect(decoder.lastSkip == .unseen)
        decoder.append(Array("5\n5.02,0,0.315\n".utf8))
        guard case .skipped(2, _)? = decoder.next(), case .frame? = decoder.next() else { return #expect(Bool(false)) }
    }

    /// A beginning that was given up leaves a rest behind, which must not look like a line of its own.
    @Test func reset_alsoForgetsWhatStillComes_butNotAWholeLine() {
        var decoder = LineDecoder(Self.columns)
        #expect(decoder.reset() == 0)
        decoder.append(Array("5.02,0,0.31\n1".utf8))
        guard case .frame? = decoder.next() else { return #expect(Bool(false)) }
        #expect(decoder.reset() == 1)
        decoder.append(Array("2.02,0,0.31\n5.03,0,0.32\n".utf8))
        guard case .skipped(12, _)? = decoder.next(), case .frame? = decoder.next() else { return #expect(Bool(false)) }
        // The second time as the first.
        decoder.append(Array("1".utf8))
        _ = decoder.next()
        #expect(decoder.reset() == 1)
        decoder.append(Array("2.02,0,0.31\n".utf8))
        guard case .skipped(12, _)? = decoder.next() else { return #expect(Bool(false)) }
    }

    @Test(arguments: ["\n", "\r\n", "  \r\n", "# V=1;mA=2\n", "  #\n"])
    func blankLinesAndComments_areRemarks(line: String) {
        var decoder = LineDecoder(Self.pairs())
        decoder.append(Array(line.utf8))
        guard case .skipped(line.utf8.count, .noStartMark)? = decoder.next() else { return #expect(Bool(false)) }
        #expect(decoder.lastSkip == .remark)
    }

    @Test func withoutComments_aMarkBeginsALine() {
        let description = Self.pairs { $0.comment = [] }
        #expect(readings("#=1;V=5;mA=6\n", description).count == 1)
        #expect(readings("#=1;V=5;mA=6\n", Self.pairs()).isEmpty)
    }

    // MARK: Numbers

    @Test(arguments: [
        ("5", 5), ("5.", 5), (".5", 0.5), ("+5.02", 5.02), ("-0.31", -0.31), ("0005.020", 5.02), ("1e3", 1000),
        ("1E-3", 0.001), ("2.5e+02", 250), ("0.3", 0.3), ("123456789", 123_456_789),
        ("0.123456789012345678", 0.123456789012345678),
        ("-0", 0),
    ])
    func number_isRead(text: String, value: Double) {
        #expect(volts(text) == .some(.some(value)))
    }

    @Test(arguments: [
        "", "-", "+", ".", "e3", "1e", "1e+", "1e999", "5..0", "5.0.1", "5,02", "0x10", "5V", "5 V", "5 5", "--5",
        "- 5", "nano", "in",
        "1e23", "1e-23", "1234567890123456789", "2000000000", "-2000000000", "1e9.5",
    ])
    func noNumber_isNoReading(text: String) {
        #expect(volts(text) == .none)
    }

    /// The largest value that any quantity has, and the next.
    @Test func largestValue_isTaken() {
        #expect(volts("1000000000") == .some(.some(1e9)))
        #expect(volts("1000000001") == .none)
        #expect(volts("-1000000000") == .some(.some(-1e9)))
    }

    /// As printFloat of Arduino's cores writes them.
    @Test(arguments: ["nan", "NAN", "NaN", "inf", "-inf", "INF", "ovf", "-ovf"])
    func wordForNoNumber_isAnUnknownValue(word: String) {
        let found = readings("V=\(word);mA=310\n", Self.pairs()).first
        #expect(found?.supported.contains(.voltage) == true)
        #expect(found?[.voltage] == .some(nil))
        #expect(found?[.current] == 0.31)
        #expect(found?.supported.contains(.power) == true)
        #expect(found?[.power] == .some(nil))
    }

    // MARK: Fields

    @Test func factorOffsetRangeAndUnit_areAppliedInThisOrder() {
        var field = LineField(.temperature, name: Array("T".utf8))
        (field.factor, field.offset, field.range, field.unit) = (0.5, -10, 0...20, Array("°F".utf8))
        let description = LineDescription(fields: [field])
        func value(_ text: String) -> Double? { readings("T=\(text)\n", description).first?[.temperature] }

        #expect(value("50 °F") == 15)
        #expect(value("50°F") == 15)
        #expect(value("20°F") == 0)
        #expect(value("60°F") == 20)
        #expect(value("19.9°F") == nil)
        #expect(value("60.1°F") == nil)
        #expect(value("50") == nil)
        #expect(value("50 °C") == nil)
        #expect(value("50 °F.") == nil)
    }

    @Test func everyField_hasToBeThere_onceAndWhole() {
        #expect(error("V=5\n", Self.pairs()) == .truncated(have: 3))
        #expect(error("mA=5\n", Self.pairs()) == .truncated(have: 4))
        #expect(error("V=5;V=5;mA=1\n", Self.pairs()) == .implausibleField(offset: 6))
        #expect(error("V=5;mA\n", Self.pairs()) == .implausibleField(offset: 4))
        #expect(error("V=5;=3;mA=1\n", Self.pairs()) == .implausibleField(offset: 4))
        #expect(error("V=5;;mA=1\n", Self.pairs()) == .implausibleField(offset: 4))
        #expect(error("V=5;mA=1V=5;mA=1\n", Self.pairs()) == .implausibleField(offset: 7))
        #expect(error("v=5;mA=1\n", Self.pairs()) == .truncated(have: 8))
        #expect(error("V=5;mA=1;T=24;\n", Self.pairs()) == nil)
        #expect(error("VV=1;V=5;mA=1\n", Self.pairs()) == nil)
    }

    @Test func optionalField_mayBeMissing_butNotAllOfThem() {
        var description = Self.pairs()
        description.fields[1].isOptional = true
        let found = readings("V=5\nV=5;mA=1000\nmA=1000\n", description)
        #expect(found.map(\.description) == ["voltage_V=5.0", "voltage_V=5.0 current_A=1.0 power_W=5.0"])
        #expect(error("T=5\n", .usual) == .truncated(have: 3))
        #expect(readings("A=1\n", .usual).count == 1)
    }

    /// A power that the board sends is its own.
    @Test func power_isComputed_whereTheBoardSendsNone() {
        #expect(readings("V=5;A=2;W=9\n", .usual).first?[.power] == 9)
        #expect(readings("V=5;A=2;W=nan\n", .usual).first?[.power] == .some(nil))
        #expect(readings("V=5;A=2\n", .usual).first?[.power] == 10)
        #expect(readings("V=5\n", .usual).first?.supported.contains(.power) == false)
        #expect(readings("A=2\n", .usual).first?.supported.contains(.power) == false)
        // A product that no board may send is unknown too. Found by the fuzzer.
        #expect(readings("V=51999;A=0.4e8\n", .usual).first?[.power] == .some(nil))
    }

    @Test func otherMarks_separateAndAssign() {
        let description = Self.pairs { ($0.separator, $0.assignment) = (UInt8(ascii: "|"), UInt8(ascii: ":")) }
        #expect(readings("V: 5.02 | mA: 310\n", description).first?[.current] == 0.31)
        #expect(readings("V=5.02;mA=310\n", description).isEmpty)
        let blanks = Self.pairs { $0.separator = LineText.blank }
        #expect(readings("V=5.02   mA=310 \n", blanks).first?[.current] == 0.31)
    }

    // MARK: Columns and objects

    @Test func columns_areAsManyAsDescribed() {
        #expect(readings("5.02,whatever,0.31\n", Self.columns).map { $0[.current] } == [0.31])
        #expect(readings("5.02,,0.31\n", Self.columns).count == 1)
        for line in [
            "5.02,0.31\n", "5.02,0,0.31,\n", "5.02,0,0.31,4\n", ",0,0.31\n", "5.02,0,\n", "5.02\n", "5.02 0 0.31\n",
        ] {
            #expect(readings(line, Self.columns).isEmpty, "\(line)")
        }
        var optional = Self.columns
        optional.fields[1].isOptional = true
        #expect(readings("5.02,0,\n", optional).map(\.description) == ["voltage_V=5.02"])
        #expect(readings("5.02,0\n", optional).isEmpty)
        var tabs = Self.columns
        tabs.separator = LineText.tab
        #expect(readings("5.02\tx\t0.31\n", tabs).count == 1)
        #expect(readings("5.02\t0.31\n", tabs).isEmpty)
        var blanks = Self.columns
        blanks.separator = LineText.blank
        #expect(readings("5.02   x 0.31\n", blanks).count == 1)
    }

    @Test(arguments: [
        #"{"V":5.02,"A":0.31}"#, #" { "V" : 5.02 , "A" : 0.31 } "#,
        #"{"A":0.31,"V":5.02,"t":"a\"b,}","ok":true,"n":null}"#,
        #"{"V":"5.02","A":0.31}"#,
    ])
    func object_isRead(line: String) {
        #expect(readings(line + "\n", Self.json).map(\.description) == ["voltage_V=5.02 current_A=0.31 power_W=1.5562"])
    }

    @Test(arguments: [
        "", "{}", #"{"V":5.02}"#, #"{"V":5.02,"A":0.31"#, #"{"V":5.02,"A":0.31}}"#, #"{"V":5.02,"A":0.31,}"#,
        #"{"V":5.02 "A":0.31}"#,
        #"{"V":5.02,"A":[0.31]}"#, #"{"V":5.02,"A":{"x":0.31}}"#, #"{"V":5.02,"A":0.31,"V":5.02}"#,
        #"{"V":5.02,"A":true}"#,
        #"{"V":5.02,"A":}"#, #"{"V":5.02,A:0.31}"#, #"["V",5.02]"#, #"{"V":5.02,"A":0.31} x"#, #"{"V":5.02,"A"#,
        #"{"V":5.02,"A\"#,
        #"{"V":null,"V":5.02,"A":0.31}"#, #"{"V":5.02,"V":null,"A":0.31}"#, #"{,"V":5.02,"A":0.31}"#,
    ])
    func otherText_isNoObject(line: String) {
        #expect(readings(line + "\n", Self.json).isEmpty)
    }

    @Test func null_isAnUnknownValue() {
        let found = readings("{\"V\":null,\"A\":0.31}\n", Self.json).first
        #expect(found?[.voltage] == .some(nil))
        #expect(found?.supported.contains(.voltage) == true)
        #expect(found?[.current] == 0.31)
    }

    // MARK: Checks

    /// The XOR of `V=5;mA=1` by hand, and the check value of CRC-16/MODBUS over `123456789` (reveng.sourceforge.io).
    @Test func check_isRequired_andRight() {
        let xor = Self.pairs { $0.check = .xor }
        let right = "V=5;mA=1".utf8.reduce(0, ^)
        #expect(right == 0x45)
        #expect(readings("V=5;mA=1*45\r\n", xor).count == 1)
        #expect(readings("V=5;mA=1*45\n", xor).count == 1)
        #expect(error("V=5;mA=2*45\n", xor) == .wrongCheck(expected: 0x46, found: 0x45))
        #expect(error("V=5;mA=1\n", xor) == .truncated(have: 8))
        #expect(error("V=5;mA=1*4\n", xor) == .truncated(have: 10))
        #expect(error("V=5;mA=1*450\n", xor) == .truncated(have: 12))
        #expect(error("V=5;mA=1*4G\n", xor) == .implausibleField(offset: 10))
        #expect(error("*45\n", xor) == .wrongCheck(expected: 0, found: 0x45))
        #expect(readings("V=5;mA=2*45\n", xor, unchecked: true).count == 1)

        #expect(
            "123456789".utf8.withContiguousStorageIfAvailable {
                LineDescription.Check.crc16.value(over: UnsafeRawBufferPointer($0))
            } == 0x4B37)
        let crc = Self.pairs { $0.check = .crc16 }
        let sum = String(Checksum.crc16Modbus(Array("V=5;mA=1".utf8)), radix: 16)
        #expect(readings("V=5;mA=1*\(sum)\n", crc).count == 1)
        #expect(readings("V=5;mA=2*\(sum)\n", crc).isEmpty)
    }

    // MARK: Damage

    /// Of 100,000 lines of which one to four bits or bytes were changed, lost or doubled, at most so many come out as a
    /// reading with a wrong value. Without a check a digit that became another one is a false reading, whatever is done:
    /// only the range limits it. The rates that Docs/Protocols/GENERIC.md states are these.
    @Test(arguments: [(nil, 9500), (.xor, 250), (.crc16, 5)] as [(LineDescription.Check?, Int)])
    func damage_rarelyBecomesAFalseReading(check: LineDescription.Check?, most: Int) {
        var description = Self.pairs { $0.check = check }
        description.fields[0].range = 0...36
        description.fields[1].range = -20...20
        var noise = SplitMix64(seed: 226)
        var wrong = 0
        for round in 0..<100_000 {
            var line = Array("V=\(round % 30).\(100 + round % 900);mA=\(round % 3000)".utf8)
            if let check {
                let value = line.withUnsafeBytes { check.value(over: $0) }
                let digits = String(value, radix: 16)
                line += Array("*\(String(repeating: "0", count: check.digits - digits.count))\(digits)".utf8)
            }
            line.append(0x0A)
            let true_ = decodedReadings(line, with: LineDecoder(description)).first
            #expect(true_ != nil)
            for _ in 0...noise.next() % 4 {
                let place = Int(noise.next() % UInt64(line.count))
                switch noise.next() % 4 {
                case 0: line[place] ^= 1 << UInt8(noise.next() % 8)
                case 1: line[place] = UInt8(truncatingIfNeeded: noise.next())
                case 2: line.remove(at: place)
                default: line.insert(line[place], at: place)
                }
            }
            let found = decodedReadings(line, with: LineDecoder(description))
            if found.contains(where: { $0 != true_ }) { wrong += 1 }
        }
        print("false readings of 100,000 damaged lines, check \(check.map(\.rawValue) ?? "none"): \(wrong), seed 226")
        #expect(wrong <= most)
    }
}
