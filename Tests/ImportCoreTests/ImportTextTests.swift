import Domain
import Testing

/// Numbers, quotes, escapes, columns and limits, each at its ends.
struct ImportTextTests {
    private typealias Result = (readings: [(time: Int64, reading: Reading)], reader: ImportReader)

    private func take(_ text: String, _ options: ImportOptions = ImportOptions()) throws(ImportError) -> Result {
        var readings: [(time: Int64, reading: Reading)] = []
        var reader = ImportReader(options)
        try reader.read(Array(text.utf8)) { readings.append(($0.millisecondsSince1970, $1)) }
        try reader.finish { readings.append(($0.millisecondsSince1970, $1)) }
        return (readings, reader)
    }

    private func error(_ text: String, _ options: ImportOptions = ImportOptions()) -> ImportError? {
        importError { () throws(ImportError) in try take(text, options) }
    }

    // MARK: Numbers

    /// As one field of a table that is separated by commas, and of one that is separated by semicolons.
    @Test(
        arguments: [
            ("5", 5), ("+5", 5), ("-5", -5), (".5", 0.5), ("5.", 5), ("-.5", -0.5), ("1e3", 1000), ("1E-3", 0.001),
            ("1.5e+2", 150),
            ("007", 7), ("000000000000000000005.5", 5.5), ("0.123456789012345", 0.123_456_789_012_345),
            ("123456789012.345", 123_456_789_012.345), ("12345678901.23456789", 12_345_678_901.234_567_89),
            ("0.0000000000000001", 1e-16), ("0.000000000000001", 1e-15), ("999999999999.999", 999_999_999_999.999),
            ("1000000000000", 1e12), ("-1000000000000", -1e12), ("1e12", 1e12), ("1000000000001", nil), ("1.1e12", nil),
            ("-1e13", nil), (".", nil), ("-", nil), ("+", nil), ("-.", nil), ("--5", nil), ("5-", nil), ("5..5", nil),
            ("5.5.5", nil), ("5e", nil), ("e5", nil), ("5 5", nil), ("٣", nil), ("inf", nil), ("0x1", nil),
            ("1_0", nil),
            ("0." + String(repeating: "0", count: 61) + "1", 1e-62),
            ("0." + String(repeating: "0", count: 62) + "1", nil),
            ("1e999", nil), ("9999999999999999999", nil),
            ("-" + String(repeating: "0", count: 70) + "5", -5), ("+" + String(repeating: "0", count: 70) + "5", 5),
        ] as [(String, Double?)])
    func number_isReadToItsLastBit(text: String, value: Double?) {
        for separator in [",", ";"] {
            let table = "time\(separator)voltage_V\n2026-11-21T13:40:05Z\(separator)\(text)\n"
            let taken = try? take(table)
            #expect(taken?.readings.first?.reading[.voltage] == value, "\(text) \(separator)")
            #expect((taken == nil) == (value == nil), "\(text) \(separator)")
        }
    }

    /// However many zeros are in front, in a column of the same width each.
    @Test func zerosInFront_countForNothing() throws {
        let zeros = String(repeating: "0", count: 70)
        #expect(try take("time,voltage_V\n2026-11-21T13:40:05Z,\(zeros)5.5\n").readings[0].reading[.voltage] == 5.5)
        #expect(try take("time;voltage_V\n2026-11-21T13:40:05Z;\(zeros)5,5\n").readings[0].reading[.voltage] == 5.5)
        #expect(
            error("time,voltage_V\n2026-11-21T13:40:05Z,\(zeros)5e0\n")?.kind == .badValue, "more than is ever written")
        // As many digits as a double surely holds are taken however long the text is.
        #expect(
            try take("time,voltage_V\n2026-11-21T13:40:05Z,\(zeros)123.456789012345\n").readings[0].reading[.voltage]
                == 123.456789012345)
        for count in [14, 15, 16, 17] {
            // Sixteen digits may be more than a double holds.
            for digit in 1...9 {
                let text = "\(digit)." + String(repeating: "\(digit)", count: count - 2) + "3"
                let taken = try take("time,voltage_V\n2026-11-21T13:40:05Z,\(text)\n")
                #expect(taken.readings[0].reading[.voltage]?.bitPattern == Double(text)?.bitPattern, "\(text)")
            }
        }
    }

    @Test func comma_isAPoint_whereItSeparatesNothing() throws {
        for (field, value) in [
            ("5,25", 5.25), ("-0,5", -0.5), ("1,5e3", 1500), ("5,", 5),
            ("12345678901,23456789", 12_345_678_901.234_567_89),
        ] {
            let taken = try take("time;voltage_V\n2026-11-21T13:40:05Z;\(field)\n")
            #expect(taken.readings[0].reading[.voltage] == value)
        }
        #expect(error("time;voltage_V\n2026-11-21T13:40:05Z;5,2,5\n")?.kind == .badValue)
        #expect(error("time;voltage_V\n2026-11-21T13:40:05Z;5,2.5\n")?.kind == .badValue)
        #expect(error("time,voltage_V\n2026-11-21T13:40:05Z,5.2\n2026-11-21T13:40:06Z,\"5,2\"\n")?.kind == .badValue)
        #expect(error("{\"time\":\"2026-11-21T13:40:05Z\",\"voltage_V\":5,2}\n")?.kind == .badValue)
    }

    // MARK: Tables

    @Test(
        arguments: [
            ("2026-11-21T13:40:05Z,5", [5]), ("\"2026-11-21T13:40:05Z\",\"5\"", [5]),
            ("2026-11-21T13:40:05Z,\"\"", [nil]),
            ("2026-11-21T13:40:05Z,", [nil]), ("2026-11-21T13:40:05Z,\"5\"6", nil), ("2026-11-21T13:40:05Z,\"5", nil),
            ("2026-11-21T13:40:05Z,\"5\"\"\"", nil), ("2026-11-21T13:40:05Z,5,", nil), ("2026-11-21T13:40:05Z", nil),
            ("2026-11-21T13:40:05Z,\"", nil), (",5", nil), ("2026-11-21T13:40:05Z,\"5\",", nil),
            ("2026-11-21T13:40:05Z,\"5\"6\"", nil), ("2026-11-21T13:40:05Z,\"5\" \"6\"", nil),
            ("2026-11-21T13:40:05Z,5\"", nil),
        ] as [(String, [Double?]?)])
    func fields_mayBeQuoted(line: String, values: [Double?]?) {
        let taken = try? take("time,voltage_V\n\(line)\n")
        #expect(taken?.readings.map { $0.reading[.voltage] } == values, "\(line)")
    }

    /// Every kind of table may be separated by each of the four, and names may hold quotes.
    @Test func separators_areAnyOfFour() throws {
        for separator in [",", ";", "\t", " "] {
            let lines = [["time", "voltage_V", "current_A"], ["2026-11-21T13:40:05Z", "5", "2"]]
            let taken = try take(lines.map { $0.joined(separator: separator) + "\n" }.joined())
            #expect(taken.readings.map { [$0.reading[.voltage], $0.reading[.current]] } == [[5, 2]])
        }
        let spaced = try take("time  voltage_V   current_A  \n2026-11-21T13:40:05Z   5 2 \n")
        #expect(spaced.readings.map { [$0.reading[.voltage], $0.reading[.current]] } == [[5, 2]])
        let named = try take(
            "time,\"a \"\"b\"\".voltage_V\"\n2026-11-21T13:40:05Z,5\n", ImportOptions(meter: "a \"b\""))
        #expect(named.readings.count == 1)
    }

    /// Each column of the other programs' tables, with its unit.
    @Test func foreignColumns_areTakenInTheirUnits() throws {
        let rdUSB = [
            ("Unix time", "1600000000.5"), ("Voltage (V)", "5"), ("Current (A)", "2"), ("Power (W)", "10"),
            ("Temperature (°C)", "25"), ("Data+ (V)", "0.6"), ("Data- (V)", "0.5"), ("Resistance (Ω)", "2.5"),
            ("Accumulated current (mAh)", "120"), ("Accumulated power (mWh)", "600"),
            ("Accumulated time (seconds)", "61"),
        ]
        let logger = [
            ("timestamp", "1600000000.5"), ("voltage_V", "5"), ("current_A", "2"), ("dp_V", "0.6"), ("dn_V", "0.5"),
            ("temp_C_ema", "25"), ("energy_Ws", "2160"), ("capacity_As", "432"),
        ]
        let toolbox = [
            ("Time", "0.5"), ("Voltage", "5"), ("Current", "2"), ("Power", "10"), ("D+", "0.6"), ("D-", "0.5"),
            ("Capacity", "0.12"), ("Energy", "0.6"),
        ]
        let all: [Quantity: Double] = [
            .voltage: 5, .current: 2, .power: 10, .temperature: 25, .dataPlus: 0.6, .dataMinus: 0.5, .resistance: 2.5,
            .charge: 120, .energy: 0.6, .duration: 61,
        ]
        for (format, columns) in [(ImportFormat.rdUSB, rdUSB), (.logger, logger), (.toolbox, toolbox)] {
            let separator = format == .logger ? " " : ","
            let text = [columns.map(\.0), columns.map(\.1)].map { $0.joined(separator: separator) + "\n" }.joined()
            let taken = try take(text, ImportOptions(start: 1_600_000_000_000))
            #expect(taken.reader.format == format)
            #expect(taken.readings.map(\.time) == [1_600_000_000_500])
            var count = 0
            taken.readings[0].reading.forEach { quantity, value in
                count += 1
                #expect(abs((value ?? .nan) - (all[quantity] ?? .nan)) < 1e-9, "\(format) \(quantity)")
            }
            #expect(count == columns.count - 1)
            #expect(taken.reader.columnsLeftOut.isEmpty)
        }
        // What is there twice is taken once, what is unknown is named, and the table is recognised by either column.
        let odd = try take("Unix time,Current (A),Current (A),Mood\n1,2,3,x\n")
        #expect(odd.readings[0].reading[.current] == 2)
        #expect(odd.reader.columnsLeftOut == ["Current (A)", "Mood"])
        for (names, format) in [
            ("Time,Current (A)", ImportFormat.rdUSB), ("Time,Voltage (V)", .rdUSB), ("Unix time,Voltage (V)", .rdUSB),
            ("timestamp,voltage_V", .logger), ("timestamp,current_A", .logger), ("Time,Voltage", .toolbox),
            ("Time,Current", .toolbox),
        ] {
            let time = names.hasPrefix("Time") && format == .rdUSB ? "2020-03-29T00:00:00Z" : "1"
            let taken = try take("\(names)\n\(time),5\n", ImportOptions(start: 0))
            #expect(taken.reader.format == format, "\(names)")
        }
        for names in [
            "Unix time,Mood", "Voltage (V),Current (A)", "timestamp,Mood", "x,voltage_V", "Time,Mood", "time",
            "time,mood",
        ] {
            #expect(error("\(names)\n1,5\n")?.kind == .unknownLayout, "\(names)")
        }
    }

    /// A spreadsheet leaves columns without a name, of which nothing is to be said.
    @Test func columnsWithoutAName_areNotSaidToBeLeftOut() throws {
        for names in ["Time,Voltage (V),, ,Mood", "time,volt,, ,Mood"] {
            #expect(try take("\(names)\n2026-11-21T13:40:05Z,5,1,2,3\n").reader.columnsLeftOut == ["Mood"])
        }
    }

    /// The name of a column of times may be its unit alone; where none is told, it is seconds.
    @Test(arguments: [("s,volt", 1500.0), ("ms,volt", 1.5), ("sec,volt", 1500), ("t,volt", 1500), ("t_ms,volt", 1.5)])
    func columnOfTimes_isInTheUnitThatItIsCalled(names: String, milliseconds: Double) throws {
        let taken = try take("\(names)\n1.5,5\n3000,5\n", ImportOptions(start: 0))
        #expect(taken.readings.map(\.time) == [Int64(milliseconds.rounded()), Int64(milliseconds * 2000)])
    }

    /// Three numbers with semicolons are a table that is known; anything else without names is none.
    @Test(arguments: [
        ("0.00;5.1;0.2", true), (" 0 ; 5,1 ;-0.2", true), ("0.00;5.1;x", false), ("x;5.1;0.2", false),
        ("a;b;c", false), ("0.00;5.1", false), ("0.00;5.1;0.2;1", false), ("0.00,5.1,0.2", false), ("0.00;;0.2", false),
    ])
    func tableWithoutNames_isOfThreeNumbers(line: String, isKnown: Bool) throws {
        let text = "\(line)\n1.00;5.1;0.2\n"
        #expect((error(text, ImportOptions(start: 0))?.kind == .unknownLayout) != isKnown)
        #expect((try? take(text, ImportOptions(start: 0)).readings.count) == (isKnown ? 2 : nil))
    }

    // MARK: JSON

    private func told(_ details: String) -> [String: TelemetryBody.Value]? {
        let line = "{\"time\":\"2026-11-21T13:40:05Z\",\"voltage_V\":5,\"told\":{\"details\":\(details)}}\n"
        return (try? take(line))?.reader.toldLast?.details
    }

    @Test(
        arguments: [
            ("{}", [:]), ("{ }", [:]), ("{\"a\":1}", ["a": .number(1)]),
            ("{ \"a\" : -1.5e2 , \"b\" : null }", ["a": .number(-150), "b": .unknown]),
            ("{\"a\":true,\"b\":false}", ["a": .flag(true), "b": .flag(false)]),
            ("{\"a\":1,\"a\":2}", ["a": .number(2)]),
            ("{\"a\":\t\"x\"}", ["a": .text("x")]), (#"{"\u00e9":"\ud83d\ude00"}"#, ["é": .text("😀")]),
            (#"{"a":"\udc00"}"#, nil), ("{\"a\":truth}", nil), ("{\"a\":nul}", nil), ("{\"a\":}", nil),
            ("{\"a\"}", nil),
            ("{\"a\":1,}", nil), ("{\"a\":1 \"b\":2}", nil), ("{,\"a\":1}", nil), ("{a:1}", nil), ("{\"a\":[1]}", nil),
            ("{\"a\":{}}", nil), ("{\"a\":-}", nil), ("{\"a\":+1}", nil), ("{\"a\":1x}", nil), ("{\"a\":1]", nil),
        ] as [(String, [String: TelemetryBody.Value]?)])
    func object_isReadStrictly(json: String, details: [String: TelemetryBody.Value]?) {
        #expect(told(json) == details, "\(json)")
    }

    @Test func groups_areObjectsOfThree() throws {
        func groups(_ json: String) -> [TelemetryBody.Group]? {
            let line = "{\"told\":{\"groups\":\(json)},\"time\":\"2026-11-21T13:40:05Z\",\"voltage_V\":5}\n"
            return (try? take(line))?.reader.toldLast?.groups
        }
        let group = TelemetryBody.Group(index: 3, charge_mAh: 1.5, energy_Wh: -2)
        let text = "{\"index\":3,\"charge_mAh\":1.5,\"energy_Wh\":-2}"
        #expect(groups("[]") == [])
        #expect(groups("[ \(text) ]") == [group])
        #expect(groups("[\(text),\(text)]") == [group, group])
        #expect(groups("[1,\"{\",[\(text)],null,\(text)]") == [group], "what is no object is left out")
        #expect(groups("[{\"index\":3,\"charge_mAh\":1.5}]") == nil)
        #expect(groups("[{\"charge_mAh\":1.5,\"energy_Wh\":1}]") == nil)
        #expect(groups("[{\"index\":3,\"energy_Wh\":1}]") == nil)
        #expect(groups("[{\"index\":3.5,\"charge_mAh\":1,\"energy_Wh\":1}]") == nil)
        #expect(groups("[\(text)") == nil)
    }

    /// What the meter told comes from the first line that has it and from the last.
    @Test func told_isKeptFromTheFirstAndTheLast() throws {
        let lines = [
            ",\"told\":{\"details\":{\"a\":1}}", "", ",\"told\":{\"details\":{\"a\":2}}",
            ",\"told\":{\"details\":{\"a\":3}}", "",
        ]
        let text = lines.map { "{\"time\":\"2026-11-21T13:40:05Z\",\"voltage_V\":5\($0)}\n" }.joined()
        let reader = try take(text).reader
        #expect(reader.toldFirst?.details == ["a": .number(1)])
        #expect(reader.toldLast?.details == ["a": .number(3)])
        #expect(reader.lines == 5 && reader.readings == 5)
    }

    /// Only what `meterctl watch` writes beside readings is passed over; of a line without the wanted meter nothing is taken.
    @Test func lines_haveReadingsAndWhatIsBesideThem() throws {
        let time = "\"time\":\"2026-11-21T13:40:05Z\""
        let beside =
            "\"missed\":1,\"measured_by\":\"pi\",\"count\":2,\"least\":{\"voltage_V\":1},\"greatest\":{\"voltage_V\":9}"
        let own = try take("{\(time),\(beside),\"voltage_V\":5}\n")
        #expect(own.readings.map { $0.reading[.voltage] } == [5])
        #expect(own.readings[0].reading.supported == QuantitySet(.voltage))
        let several = "{\(time),\"a\":{\"voltage_V\":5,\"current_A\":null}}\n{\(time),\"b\":{\"voltage_V\":6}}\n"
        let taken = try take(several, ImportOptions(meter: "a"))
        #expect(taken.readings.map { $0.reading[.voltage] } == [5])
        #expect(taken.readings[0].reading.supported == QuantitySet(.voltage, .current))
        #expect(taken.reader.lines == 2 && taken.reader.readings == 1)
        #expect(error(several, ImportOptions(meter: "c"))?.remedy == "there is a, b")
        #expect(
            error("{\(time),\"voltage_V\":5}\n", ImportOptions(meter: "c"))?.remedy
                == "there is only one in it; leave --of out")
        let named = try take("{\(time),\"count\":{\"voltage_V\":7}}\n", ImportOptions(meter: "count"))
        #expect(named.readings.map { $0.reading[.voltage] } == [7], "a meter may be called so")
        for wrong in [
            "\"voltage_V\":\"5\"", "\"voltage_V\":true", "\"voltage_V\":[]", "\"a\":{\"voltage_V\":{}}",
            "\"a\":{\"volts\":1}",
        ] {
            #expect(error("{\(time),\(wrong)}\n", ImportOptions(meter: "a"))?.kind == .badValue, "\(wrong)")
        }
        #expect(error("{\(time),\"voltage_V\":5} x\n")?.kind == .badValue)
        #expect(try take("{\(time),\"voltage_V\":5} \t").readings.count == 1, "the last line may lack its end")
        #expect(error("{\"time\":5,\"voltage_V\":5}\n") != nil)
    }

    // MARK: Limits

    @Test func times_haveTheirEnds() throws {
        func times(_ seconds: [String], latest: Int64 = .max, names: String = "Unix time,Voltage (V)") -> [Int64]? {
            let text = "\(names)\n" + seconds.map { "\($0),5\n" }.joined()
            return (try? take(text, ImportOptions(latest: latest)))?.readings.map(\.time)
        }
        #expect(times(["0"]) == [0])
        #expect(times(["-0.001"]) == nil)
        #expect(times(["1.0004", "1.0006"]) == [1000, 1001])
        #expect(times(["2"], latest: 2000) == [2000])
        #expect(times(["2.001"], latest: 2000) == nil)
        #expect(times(["2", "2", "3"]) == [2000, 2000, 3000])
        #expect(times(["2", "1.999"]) == nil)
        #expect(times(["2", "1"], names: "timestamp,voltage_V") == [2000, 2000])
        #expect(times(["2", "0.999"], names: "timestamp,voltage_V") == nil)
        #expect(times(["2", "1", "1.5", "2.5"], names: "timestamp,voltage_V") == [2000, 2000, 2000, 2500])
        #expect(error("Unix time,Voltage (V)\n-1,5\n")?.remedy == "readings are from 1970 on")
        #expect(
            error("Unix time,Voltage (V)\n9,5\n", ImportOptions(latest: 1))?.remedy.hasPrefix("it is in the future")
                == true)
        let reader = try take("Unix time,Voltage (V)\n1,5\n2,5\n3,5\n").reader
        #expect(reader.first?.millisecondsSince1970 == 1000)
        #expect(reader.last?.millisecondsSince1970 == 3000)
        #expect(reader.readings == 3 && reader.lines == 4)
        let clamped = error("Time,Voltage\n1,5\n", ImportOptions(start: .max, latest: .max - 1))
        #expect(clamped?.kind == .badTime)
    }

    @Test func longestLine_isRead() throws {
        let line = "2026-11-21T13:40:05Z," + String(repeating: "0", count: 40)
        for (count, isRead) in [(65_536, true), (65_537, false)] {
            let text = "time,voltage_V\n" + line.prefix(30)
            var reader = ImportReader(ImportOptions())
            try reader.read(Array(text.utf8)) { _, _ in }
            let more = [UInt8](repeating: 0x30, count: count - 30)
            let outcome: Void? = try? reader.read(more) { _, _ in }
            #expect((outcome != nil) == isRead)
        }
    }

    @Test func marksAndComments_areNoReadings() throws {
        let taken = try take("\u{FEFF}# made by hand\n\n\r\ntime,voltage_V\r\n2026-11-21T13:40:05Z,5\r\n\n")
        #expect(taken.readings.count == 1)
        #expect(taken.reader.lines == 6)
        #expect(error("time,voltage_V\n\u{FEFF}2026-11-21T13:40:05Z,5\n")?.kind == .badTime)
        #expect(error("time,voltage_V\n# 2026-11-21T13:40:05Z,5\n")?.line == 2)
        #expect(error("time,voltage_V\n2026-11-21T13:40:05Z,nan\n")?.remedy.hasPrefix("leave a field empty") == true)
        #expect(error("time,voltage_V\n2026-11-21T13:40:05Z,null\n")?.remedy.hasPrefix("leave a field empty") == true)
        #expect(
            error("time,voltage_V\n2026-11-21T13:40:05Z,x\n")?.message
                == "line 2, column voltage_V: \"x\" is not a number")
        #expect(error(String(repeating: "x", count: 60) + "\n")?.problem.contains("…") == false)
        #expect(error(String(repeating: "x", count: 61) + "\n")?.problem.contains("…") == true)
        let other = error("time,voltage_V\n", ImportOptions(format: .rdUSB))
        #expect(other?.remedy == "leave --as out, and it is recognised")
        #expect(error("Unix time,Voltage (V)\n1,5\n", ImportOptions(meter: "a"))?.kind == .needsMeter)
    }

    /// A time without a zone is that of the clock that showed it, on both sides of a change.
    @Test func localTimes_areThoseOfTheirZone() throws {
        let change: Int64 = 1_585_443_600_000
        let zone = { @Sendable (moment: Int64) -> Int64 in moment < change ? 3_600_000 : 7_200_000 }
        for (text, time) in [
            ("2020-03-29 01:59:59", change - 1000), ("2020-03-29 03:00:00", change),
            ("2020-03-29T04:00:00.5", change + 3_600_500),
            ("2020-03-29T01:00:00Z", change), ("2020-03-29 00:00:00", change - 7_200_000),
        ] {
            let taken = try take("time,voltage_V\n\(text),5\n", ImportOptions(zoneOffset: zone))
            #expect(taken.readings.map(\.time) == [time], "\(text)")
        }
    }
}
