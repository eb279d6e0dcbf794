import CoreTestKit
import Domain
import Testing

struct ImportReaderTests {
    private struct Taken {
        var readings: [(time: WallTime, reading: Reading)] = []
        var format: ImportFormat?
        var leftOut: [String] = []
    }

    private func take(
        _ text: String, _ options: ImportOptions = ImportOptions(), pieces: Int = .max
    ) throws(ImportError) -> Taken {
        try take(Array(text.utf8), options, pieces: pieces)
    }

    private func take(
        _ bytes: [UInt8], _ options: ImportOptions = ImportOptions(), pieces: Int = .max
    ) throws(ImportError) -> Taken {
        var taken = Taken()
        var reader = ImportReader(options)
        var rest = bytes[...]
        while !rest.isEmpty {
            try reader.read(rest.prefix(pieces)) { taken.readings.append(($0, $1)) }
            rest = rest.dropFirst(pieces)
        }
        try reader.finish { taken.readings.append(($0, $1)) }
        (taken.format, taken.leftOut) = (reader.format, reader.columnsLeftOut)
        return taken
    }

    private func error(_ text: String, _ options: ImportOptions = ImportOptions()) -> ImportError? {
        importError { () throws(ImportError) in try take(text, options) }
    }

    // MARK: Our own

    private let csv = """
        time,voltage_V,current_A,power_W,resistance_ohm
        2026-11-21T13:40:05.250Z,5.012,1.2,6.0144,
        2026-11-21T13:40:06.250Z,5.011,-0.1,,9.5

        """

    @Test func ownTable_isTaken_whereverItsPiecesEnd() throws {
        for pieces in [1, 2, 7, 64, 1000] {
            let taken = try take(csv, pieces: pieces)

            #expect(taken.format == .csv)
            #expect(taken.readings.map(\.time.description) == ["2026-11-21T13:40:05.250Z", "2026-11-21T13:40:06.250Z"])
            #expect(taken.readings[0].reading[.voltage] == 5.012)
            #expect(taken.readings[1].reading[.current] == -0.1)
            // What is not known is null, and no column less.
            #expect(taken.readings[0].reading.supported.contains(.resistance))
            #expect(taken.readings[0].reading[.resistance] == nil)
            #expect(taken.readings[1].reading[.power] == nil)
            #expect(taken.leftOut.isEmpty)
        }
    }

    @Test func spreadsheetsTable_withMarkSemicolonsAndCommas_isTheSame() throws {
        let saved =
            "\u{FEFF}" + csv.replacing(",", with: ";").replacing("5.012", with: "5,012").replacing("\n", with: "\r\n")

        let taken = try take(saved)

        #expect(taken.readings.map(\.reading) == (try take(csv)).readings.map(\.reading))
    }

    @Test func ownLines_areTaken() throws {
        let lines = """
            {"time":"2026-11-21T13:40:05.250Z","voltage_V":5.012,"current_A":null}
            {"current_A":1e-05,"time":"2026-11-21T13:40:06Z","voltage_V":5,"told":{"details":{"mode":"}"},"groups":[]},"missed":3}
            """

        let taken = try take(lines)

        #expect(taken.format == .json)
        #expect(try take(lines, ImportOptions(format: .json)).readings.map(\.reading) == taken.readings.map(\.reading))
        #expect(taken.readings.count == 2)
        #expect(taken.readings[0].reading.supported.contains(.current))
        #expect(taken.readings[0].reading[.current] == nil)
        #expect(taken.readings[1].reading[.current] == 1e-5)
    }

    @Test func oneOfSeveralMeters_hasToBeNamed() throws {
        let table = "time,\"a,b.voltage_V\",phone.voltage_V\n2026-11-21T13:40:05Z,5,9\n"
        let lines = """
            {"time":"2026-11-21T13:40:05Z","charger":{"voltage_V":5}}
            {"time":"2026-11-21T13:40:06Z","charger":{"voltage_V":5},"phone":{"voltage_V":9}}

            """

        #expect(error(table)?.kind == .needsMeter)
        #expect(error(table)?.problem == "the file has several meters: a,b, phone")
        #expect(error(lines)?.kind == .needsMeter)
        #expect(error(lines, ImportOptions(meter: "bench"))?.kind == .needsMeter)
        #expect(try take(table, ImportOptions(meter: "a,b")).readings.map { $0.reading[.voltage] } == [5])
        #expect(try take(table, ImportOptions(meter: "phone")).readings.map { $0.reading[.voltage] } == [9])
        #expect(try take(lines, ImportOptions(meter: "charger")).readings.count == 2)
    }

    /// One meter with a name is the file's; beside columns of nobody it is one of several.
    @Test func meterWithAName_isTheOnlyOne_unlessColumnsHaveNone() throws {
        let row = "\n2026-11-21T13:40:05Z,5,1\n"
        #expect(try take("time,phone.voltage_V,phone.current_A" + row).readings.map { $0.reading[.current] } == [1])
        #expect(try take("time,voltage_V,current_A" + row).readings.map { $0.reading[.current] } == [1])
        #expect(error("time,phone.voltage_V,current_A" + row)?.problem == "the file has several meters: phone")
        #expect(try take("time,phone.voltage_V,current_A" + row, ImportOptions(meter: "phone")).readings.count == 1)
    }

    @Test func error_saysItsPlace_asFarAsThereIsOne() {
        func message(_ line: Int?, _ column: String?) -> String {
            ImportError(.badTime, line: line, column: column, "it is wrong", remedy: "mend it").message
        }
        #expect(message(3, "time") == "line 3, column time: it is wrong")
        #expect(message(3, nil) == "line 3: it is wrong")
        #expect(message(nil, "time") == "column time: it is wrong")
        #expect(message(nil, nil) == "it is wrong")
    }

    // MARK: Others'

    private let rdUSB = """
        Time,Voltage (V),Current (A),Power (W),Temperature (°C),Data+ (V),Data- (V),Resistance (Ω),\
        Accumulated current (mAh),Accumulated power (mWh),Accumulated time (seconds),Run time,Run time (seconds),Unix time,\
        Zerod accumulated current (mAh)\r
        2020-03-29 01:59:59,5.07,0.0,0.0,24,0.01,0.02,9999.9,120,600,60,00:00:00,0,1585443599.25,0\r
        2020-03-29 03:00:00,5.06,0.5,2.53,25,0.01,0.02,10.1,121,605,61,00:00:01,1,1585443600.25,1\r

        """

    @Test func rdUSBsExport_isTakenByItsUnixTime() throws {
        let taken = try take(rdUSB)

        #expect(taken.format == .rdUSB)
        #expect(taken.readings.map(\.time.description) == ["2020-03-29T00:59:59.250Z", "2020-03-29T01:00:00.250Z"])
        let reading = taken.readings[0].reading
        #expect(reading[.voltage] == 5.07)
        #expect(reading[.charge] == 120)
        #expect(reading[.energy] == 0.6)
        #expect(reading[.duration] == 60)
        // No load is no resistance.
        #expect(reading.supported.contains(.resistance) && reading[.resistance] == nil)
        #expect(taken.readings[1].reading[.resistance] == 10.1)
        #expect(taken.leftOut.isEmpty)
    }

    /// Its seconds have a decimal comma then, too.
    @Test func rdUSBsExport_savedWithSemicolonsAndCommas_isTheSame() throws {
        let plain = try take(rdUSB)

        let saved = try take(rdUSB.replacing(",", with: ";").replacing(".", with: ","))

        #expect(saved.format == .rdUSB)
        #expect(saved.readings.map(\.time) == plain.readings.map(\.time))
        #expect(saved.readings.map(\.reading) == plain.readings.map(\.reading))
    }

    @Test func olderRdUSBsExport_needsAZone_andKeepsToItsSummerTime() throws {
        let old = "Time,Voltage (V),Current (A),Mood\n2020-03-29 01:59:59,5.07,0.1,x\n2020-03-29 03:00:00,5.06,0.5,y\n"
        // Central Europe put its clocks forward at 01:00 UTC.
        let zone = { @Sendable (moment: Int64) -> Int64 in moment < 1_585_443_600_000 ? 3_600_000 : 7_200_000 }

        #expect(error(old)?.kind == .needsZone)
        #expect(
            error(old)?.message == "line 2, column Time: \"2020-03-29 01:59:59\" does not say in which time zone it is")
        let taken = try take(old, ImportOptions(zoneOffset: zone))
        #expect(taken.readings.map(\.time.description) == ["2020-03-29T00:59:59.000Z", "2020-03-29T01:00:00.000Z"])
        #expect(taken.leftOut == ["Mood"])
    }

    @Test func loggersRuns_behindEachOther_areOneFile_andItsJitterIsNoStepBack() throws {
        let text = """

            timestamp sample_in_packet voltage_V current_A dp_V dn_V temp_C_ema energy_Ws capacity_As
            1657568326.795 2 5.00000 0.00011 1.184 1.030 30.500 3.600000 0.360000
            1657568326.805 3 5.00000 0.00000 1.184 1.031 30.500 7.200000 0.720000
            1657568326.784 0 5.00000 0.00011 1.185 1.032 30.500 7.200000 0.720000

            timestamp sample_in_packet voltage_V current_A dp_V dn_V temp_C_ema energy_Ws capacity_As
            1657568400.000 0 5.00000 0.00011 1.185 1.032 30.500 0.000000 0.000000

            """

        let taken = try take(text)

        #expect(taken.format == .logger)
        #expect(
            taken.readings.map(\.time.millisecondsSince1970) == [
                1_657_568_326_795, 1_657_568_326_805, 1_657_568_326_805, 1_657_568_400_000,
            ])
        #expect(((taken.readings[1].reading[.energy] ?? 0) - 0.002).magnitude < 1e-12)
        #expect(((taken.readings[1].reading[.charge] ?? 0) - 0.2).magnitude < 1e-12)
        #expect(taken.leftOut.isEmpty)
    }

    @Test func timesFromAStart_needIt() throws {
        let text =
            "# 100.0 sps, start/stop: 0/0 mA (0 s), channels: 3\nTime,Voltage,Current,Capacity\n0.01000000,5.1,0.2,0.00000100\n"

        #expect(error(text)?.kind == .needsStart)
        let taken = try take(text, ImportOptions(start: 1_000_000))
        #expect(taken.format == .toolbox)
        #expect(taken.readings.map(\.time.millisecondsSince1970) == [1_000_010])
        #expect(taken.readings[0].reading[.charge] == 0.001)
    }

    // MARK: What is wrong

    @Test(
        arguments: [
            ("", .empty, nil), ("time,voltage_V\n", .empty, nil),
            ("hello\nworld\n", .unknownLayout, 1), ("\u{0}\u{1}\n", .notText, 1),
            ("{\"time\":1}\n", .badValue, 1), ("{\"voltage_V\":5}\n", .badTime, 1),
            ("{\"time\":\"2026-11-21T13:40:05Z\",\"volts\":5}\n", .badValue, 1),
            ("{\"time\":\"2026-11-21T13:40:05Z\",\"voltage_V\":NaN}\n", .badValue, 1),
            ("{\"time\":\"2026-11-21T13:40:05Z\",\"voltage_V\":5", .badValue, 1),
            ("time,voltage_V\n2026-11-21T13:40:05Z,abc\n", .badValue, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,nan\n", .badValue, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,5 V\n", .badValue, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,0x1p3\n", .badValue, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,1e300\n", .badValue, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,5,6\n", .badValue, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,\"5\n", .badValue, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,5\nyesterday,5\n", .badTime, 3),
            ("time,voltage_V\n2026-02-30T13:40:05Z,5\n", .badTime, 2),
            ("time,voltage_V\n1969-01-01T00:00:00Z,5\n", .badTime, 2),
            ("time,voltage_V\n2099-01-01T00:00:00Z,5\n", .badTime, 2),
            ("time,voltage_V\n2026-11-21T13:40:05Z,5\n2026-11-21T13:40:04Z,5\n", .wentBack, 3),
            ("time,voltage_V\n2026-11-21T13:40:05Z,5\n2026-11-21T13:40:06Z,5", .cutOff, 3),
            ("time,voltage_V,voltage_V\n2026-11-21T13:40:05Z,5,5\n", .unknownLayout, 1),
            ("Unix time,Voltage (V)\nsoon,5\n", .badTime, 2), ("Unix time,Voltage (V)\n1e30,5\n", .badTime, 2),
        ] as [(String, ImportError.Kind, Int?)])
    func whatIsWrong_isNamedWithItsLine_andARemedy(text: String, kind: ImportError.Kind, line: Int?) {
        let error = error(text, ImportOptions(latest: 2_000_000_000_000))

        #expect(error?.kind == kind)
        #expect(error?.line == line)
        #expect(error?.remedy.isEmpty == false)
    }

    @Test func wrongKind_isToldApart() {
        #expect(error(csv, ImportOptions(format: .rdUSB))?.kind == .unknownLayout)
        #expect(error(rdUSB, ImportOptions(format: .json))?.kind == .unknownLayout)
    }

    @Test func endlessLine_isNoFileOfReadings() {
        #expect(error(String(repeating: "x", count: 70_000))?.kind == .notText)
        #expect(error("time,voltage_V\n" + String(repeating: "5", count: 70_000))?.kind == .tooLong)
    }

    // MARK: Any bytes

    @Test(arguments: 0..<UInt64(200)) func damagedFiles_endInReadingsOrAnError_neverInATrap(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let texts = [
            csv, rdUSB, "{\"time\":\"2026-11-21T13:40:05Z\",\"a\":{\"voltage_V\":5},\"b\":\"\\ud83d\\ude00\"}\n",
        ]
        var bytes = Array((texts.randomElement(using: &rng) ?? csv).utf8)
        for _ in 0..<Int.random(in: 1...12, using: &rng) {
            let place = Int.random(in: 0..<bytes.count, using: &rng)
            switch Int.random(in: 0..<4, using: &rng) {
            case 0: bytes[place] = .random(in: .min ... .max, using: &rng)
            case 1: bytes.insert(Array(",;\"\n\\{}e-9".utf8).randomElement(using: &rng) ?? 0, at: place)
            case 2 where bytes.count > 1: bytes.remove(at: place)
            default: bytes.removeSubrange(place..<min(bytes.count, place + 3)); bytes.append(10)
            }
        }
        do throws(ImportError) {
            let taken = try take(bytes, pieces: Int.random(in: 1...50, using: &rng))
            let times = taken.readings.map(\.time)
            #expect(times == times.sorted(), "seed \(seed)")
        } catch {
            #expect(!error.remedy.isEmpty, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<UInt64(20)) func everyDouble_comesBackWithTheSameBits(seed: UInt64) throws {
        var rng = SeededRNG(seed: seed)
        for _ in 0..<200 {
            let digits = Double(Int.random(in: -1_000_000_000...1_000_000_000, using: &rng))
            let value = Bool.random(using: &rng) ? digits / 1_000_000 : digits * .random(in: -1...1, using: &rng)
            let taken = try take("time,voltage_V\n2026-11-21T13:40:05Z,\(value)\n")
            #expect(taken.readings[0].reading[.voltage]?.bitPattern == value.bitPattern, "seed \(seed): \(value)")
        }
    }
}
