import Domain
import Testing

/// Files of other programs whose numbers cannot be what the meter measured, and files that other loggers write.
struct ImportFaultsTests {
    private typealias Result = (readings: [(time: WallTime, reading: Reading)], reader: ImportReader)

    private func take(_ text: String, _ options: ImportOptions = ImportOptions()) throws(ImportError) -> Result {
        try take(Array(text.utf8), options)
    }

    private func take(_ bytes: [UInt8], _ options: ImportOptions = ImportOptions()) throws(ImportError) -> Result {
        var readings: [(time: WallTime, reading: Reading)] = []
        var reader = ImportReader(options)
        try reader.read(bytes) { readings.append(($0, $1)) }
        try reader.finish { readings.append(($0, $1)) }
        return (readings, reader)
    }

    private func error(_ text: String, _ options: ImportOptions = ImportOptions()) -> ImportError? {
        importError { () throws(ImportError) in try take(text, options) }
    }

    // MARK: Values

    /// fnirsi_logger.py puts four bytes together without their sign (baryluk/fnirsi-usb-power-data-logger), and so does a
    /// logger that writes the same fields as CSV (fnb58_power_logger.py): -10 µA is (2^32 - 1) / 100,000 A.
    @Test(
        arguments: [
            """
            timestamp sample_in_packet voltage_V current_A dp_V dn_V temp_C_ema energy_Ws capacity_As
            1757000000.000 0 5.05 0.00011 0.6 0.6 25.0 3.6 0.36
            1757000000.010 1 5.05 42949.67295 0.6 0.6 25.0 2168.958490 429.496731
            1757000000.020 2 5.05 0.00011 0.6 0.6 25.0 2168.958496 429.496732
            timestamp sample_in_packet voltage_V current_A dp_V dn_V temp_C_ema energy_Ws capacity_As
            1757000100.000 0 5.05 0.00011 0.6 0.6 25.0 7.2 0.72

            """,
            """
            tag,host_time_s,sample_in_packet,voltage_V,current_A,power_W,dp_V,dn_V,temp_C,energy_J,capacity_C
            idle,1757000000.000,0,5.05,0.00011,0.0005555,0.6,0.6,25.0,3.6,0.36
            idle,1757000000.010,1,5.05,42949.67295,216895.848,0.6,0.6,25.0,2168.958490,429.496731
            idle,1757000000.020,2,5.05,0.00011,0.0005555,0.6,0.6,25.0,2168.958496,429.496732

            """,
        ])
    func currentBelowZero_thatWasWrittenWithoutItsSign_isReadWithIt(text: String) throws {
        let taken = try take(text)

        #expect(taken.reader.format == .logger)
        let currents = taken.readings.prefix(3).map { $0.reading[.current] ?? .nan }
        #expect(currents[0] == 0.00011 && abs(currents[1] + 0.00001) < 1e-9 && currents[2] == 0.00011)
        // What the program added up holds the wrong current from there on, until it is started again.
        let energies = taken.readings.map { $0.reading[.energy] != nil }
        #expect(energies == [true, false, false, true].prefix(taken.readings.count).map(\.self))
        #expect(taken.readings.map { $0.reading[.charge] != nil } == energies)
        #expect(taken.readings[1].reading[.power] == nil)
    }

    /// The remark on the sums is made once, and only where the table has one of them.
    @Test(arguments: [("energy_Ws", true), ("capacity_As", true), ("dp_V", false)])
    func sumsOfACurrentWithoutItsSign_areSaidToBeUnknown_whereThereAreAny(column: String, hasSums: Bool) throws {
        let rows = (0..<3).map { "175700000\($0) 0 5.05 42949.67295 0.6\n" }.joined()
        let remarks = try take("timestamp sample_in_packet voltage_V current_A \(column)\n\(rows)").reader.remarks
        #expect(remarks.filter { $0.contains("from here on energy and charge are unknown") }.count == (hasSums ? 1 : 0))
        #expect(remarks.contains { $0.contains("more such line") } && remarks.allSatisfy { $0.hasPrefix("line 2") })
    }

    /// A record of a TC66C that rd-usb took over has voltage and current alone; its export has 0 for all else, or, if the person
    /// had it calculate, for what cannot be calculated (kolinger/rd-usb webapp/index.py, `do_tc66c_import`).
    @Test func placeholdersOfRDUSB_areUnknown() throws {
        let head = """
            Time,Voltage (V),Current (A),Power (W),Temperature (°C),Data+ (V),Data- (V),Resistance (Ω),\
            Accumulated current (mAh),Accumulated power (mWh),Accumulated time (seconds),Run time,Run time (seconds),Unix time

            """
        let all: [Quantity] = [
            .power, .temperature, .dataPlus, .dataMinus, .resistance, .charge, .energy, .duration,
        ]
        func known(_ rows: [String]) throws -> [[Quantity]] {
            let lines = rows.enumerated().map { "2025-09-08 18:32:00,\($1),00:00:00,0,\(1_757_349_120 + $0)\n" }
            return try take(head + lines.joined()).readings.map { reading in
                #expect(reading.reading[.voltage] != nil && reading.reading[.current] != nil)
                return all.filter { reading.reading[$0] != nil }
            }
        }
        #expect(try known(["5.1,1.0,0,0,0,0,0,0,0,0", "5.1,0,0,0,0,0,0,0,0,0"]) == [[], []])
        #expect(try known(["5.1,1.0,0.0,0.0,0.0,0.0,0.0,0,0,0"]) == [[]])
        let calculated: [Quantity] = [.power, .resistance, .charge, .energy]
        #expect(try known(["5.1,1.0,5.1,0,0,0,5.1,0,0,0", "5.1,1.0,5.1,0,0,0,5.1,1,2,0"]) == [calculated, calculated])
        // A power or a resistance is enough to show that the person had it calculated, and so is one that could not be.
        #expect(try known(["5.1,0.001,0,0,0,0,5100,0,0,0", "5.1,1.0,5.1,0,0,0,0,0,0,0"]) == [calculated, calculated])
        #expect(try known(["5.1,0,0,0,0,0,,0,0,0"]) == [[.power, .charge, .energy]])
        // A UM25C in frost with an idle port and cleared counters has measured its zeros: there is something on a data line.
        #expect(try known(["5.1,1.0,5.1,0,0.01,0,5.1,0,0,0", "5.1,1.0,5.1,0,0,0,5.1,0,0,1"]) == [all, all])
    }

    /// A UM25C knows 24 V: what its live decoding refuses, an import leaves out, and says so.
    @Test func valuesThatTheMeterCannotMeasure_areNotTaken() throws {
        var options = ImportOptions()
        options.ranges = { _ in [.voltage: 0...30, .current: -6.25...6.25, .temperature: -50...150] }
        let text = """
            time,voltage_V,current_A,temperature_C
            2026-11-21T13:40:05Z,5,1,20
            2026-11-21T13:40:06Z,188,170,20
            2026-11-21T13:40:07Z,5,1,6553.5
            2026-11-21T13:40:08Z,5,42949.67,20
            2026-11-21T13:40:09Z,31,1,20
            2026-11-21T13:40:10Z,30,-6.25,-50

            """

        let taken = try take(text, options)

        #expect(taken.readings.map { $0.reading[.voltage] } == [5, 5, 30])
        #expect(taken.readings.map { $0.reading[.temperature] } == [20, nil, -50])
        #expect(taken.reader.linesLeftOut == 3)
        #expect(
            taken.reader.remarks == [
                "line 3 is left out: voltage is 188 V, but this meter's values lie within 0 to 30 V; 1 more such line",
                "line 4: temperature is 6553.5 °C, but this meter's values lie within -50 to 150 °C, so it is unknown",
                "line 5 is left out: current is 42949.67 A, but this meter's values lie within -6.25 to 6.25 A",
            ])
        let json = try take(
            "{\"time\":\"2026-11-21T13:40:05Z\",\"voltage_V\":5}\n{\"time\":\"2026-11-21T13:40:06Z\",\"voltage_V\":188}\n",
            options)
        #expect(json.readings.count == 1 && json.reader.linesLeftOut == 1)
        // Millivolts that were taken for volts are no reading at all.
        let wrong = error("time,voltage_V\n2026-11-21T13:40:05Z,5012\n2026-11-21T13:40:06Z,5013\n", options)
        #expect(wrong?.kind == .badValue && wrong?.line == 2)
        #expect(
            wrong?.problem
                == "voltage is 5012 V, but this meter's values lie within 0 to 30 V; so it is in 2 of 2 lines")
        #expect(wrong?.remedy.contains("--column voltage=NAME:mV") == true)
    }

    @Test func powerOfZero_besideAVoltageAndACurrent_isUnknown() throws {
        let taken = try take("timestamp,voltage,current,power\n1700000000,5,1,0\n1700000001,5,0,0\n")
        #expect(taken.readings.map { $0.reading[.power] } == [nil, 0])
        #expect(taken.reader.remarks == ["line 2: power is 0 W beside 5 V and 1 A, so it is unknown"])
    }

    // MARK: Times

    @Test(
        arguments: [
            // A spreadsheet shows six digits, and saves what it shows.
            ("Unix time;Voltage (V)\n1,75735E+09;5,1\n1,75735E+09;5,1\n", 2),
            ("timestamp,voltage_V\n1.757349120E+09,5.1\n1.76E+12,5.1\n", 3),
            // Rounded and written out, there are a few times for all rows.
            ("Unix time,Voltage (V)\n" + String(repeating: "1757350000,5.1\n", count: 40), nil),
            ("Unix time,Voltage (V)\n1757350000,5.1\n1757350000,5.1\n1757360000,5.1\n1757360000,5.2\n", nil),
            ("time,voltage_V\n" + String(repeating: "2026-11-21T13:40:05Z,5\n", count: 2), nil),
        ] as [(String, Int?)])
    func roundedTimes_areNoTimes(text: String, line: Int?) {
        let error = error(text)
        #expect(error?.kind == .badTime)
        #expect(error?.line == line)
        #expect(error?.remedy.contains("spreadsheet") == true)
    }

    /// Two of them are a second apart, so that nothing rounded them.
    @Test func timesThatRepeat_areTaken_whereSomeAreClose() throws {
        let times = [1_757_350_000, 1_757_350_000, 1_757_350_001, 1_757_350_001, 1_757_360_000, 1_757_360_000]
        let taken = try take("Unix time,Voltage (V)\n" + times.map { "\($0),5.1\n" }.joined())
        #expect(taken.readings.count == 6)
    }

    private static let prague = { @Sendable (moment: Int64) -> Int64 in
        // Central Europe put its clocks back at 01:00 UTC on 2025-10-26, and forward on 2026-03-29.
        (1_761_440_400_000..<1_774_746_000_000).contains(moment) ? 3_600_000 : 7_200_000
    }

    /// rd-usb before its commit 7d17c01 exported local times alone (impactlab/eemeter issue 106 has the same trouble).
    @Test func hourThatIsThereTwice_isReadInOrder() throws {
        func times(_ clock: [String]) -> [String]? {
            let lines = clock.map { "2025-10-26 \($0),5.1,1\n" }
            let text = "Time,Voltage (V),Current (A)\n" + lines.joined()
            return (try? take(text, ImportOptions(zoneOffset: Self.prague)))?.readings.map {
                String($0.time.description.dropFirst(11).prefix(8))
            }
        }
        #expect(
            times(["02:59:50", "02:00:00", "02:00:10", "03:00:00"]) == ["00:59:50", "01:00:00", "01:00:10", "02:00:00"])
        #expect(times(["01:59:50", "02:00:00", "02:00:10"]) == ["23:59:50", "00:00:00", "00:00:10"])
        #expect(times(["02:30:00", "02:10:00", "02:20:00"]) == ["00:30:00", "01:10:00", "01:20:00"])
        #expect(times(["02:30:00", "02:10:00", "02:05:00"]) == nil)
        #expect(times(["03:30:00", "02:59:00"]) == nil)
    }

    /// A logger's clock may go back by a second: within the doubled hour that is the same hour, and more is the second one.
    @Test(arguments: [-1001, -1000, -999, -1, 1, 999, 1000, 1001, 60_000])
    func stepWithinTheDoubledHour_staysInIt_unlessItIsBackByMoreThanASecond(step: Int64) throws {
        let first: Int64 = 1_761_438_600_000
        let next = WallTime(millisecondsSince1970: first + step + 7_200_000).description.dropLast()
        let text = "timestamp,voltage_V\n2025-10-26T02:30:00,5\n\(next),5\n"
        let taken = try take(text, ImportOptions(zoneOffset: Self.prague))
        let expected = step < -1000 ? first + step + 3_600_000 : first + max(0, step)
        #expect(taken.readings.map(\.time.millisecondsSince1970) == [first, expected])
    }

    @Test func localTimes_areToldAsLocal() {
        let text = "Time,Voltage (V),Current (A)\n2025-10-26 02:59:50,5,1\n2025-10-26 02:00:00,5,1\n"
        let error = error(text, ImportOptions(zoneOffset: { _ in 7_200_000 }))
        #expect(error?.kind == .wentBack && error?.line == 3)
        #expect(
            error?.problem == "the time goes back, from 2025-10-26 02:59:50 +02:00 to 2025-10-26 02:00:00 +02:00")
        #expect(error?.remedy.contains("--zone Europe/Berlin") == true)
        #expect(
            self.error("Unix time,Voltage (V)\n9,5\n8.5,5\n")?.problem
                == "the time goes back, from 1970-01-01T00:00:09.000Z to 1970-01-01T00:00:08.500Z")
    }

    // MARK: What can be read in two ways

    private func dates(
        _ rows: [String], _ columns: [String] = [], names: String = "Time,u", latest: Int64 = 1_798_000_000_000
    ) throws(ImportError) -> [String] {
        var options = ImportOptions(zoneOffset: { _ in 0 }, latest: latest)
        for column in columns { try options.add(column: column) }
        let text = "\(names)\n" + rows.map { "\($0),5\n" }.joined()
        return try take(text, options).readings.map { String($0.time.description.prefix(19)) }
    }

    /// The order of a date's numbers, as the lines together tell it. The limit is 2026-12-23.
    @Test(
        arguments: [
            (["11/21/2026 1:40:05 PM", "11/21/2026 1:40:06 PM"], ["2026-11-21T13:40:05", "2026-11-21T13:40:06"]),
            (["11/21/2026 12:00:00 AM", "11/21/2026 12:30 pm"], ["2026-11-21T00:00:00", "2026-11-21T12:30:00"]),
            // A day above 12 comes later, and tells of the lines before.
            (["11/12/2026 13:40", "11/13/2026 13:40"], ["2026-11-12T13:40:00", "2026-11-13T13:40:00"]),
            (
                ["11/10/2026 23:00", "12/10/2026 0:00", "13/10/2026 0:00"],
                ["2026-10-11T23:00:00", "2026-10-12T00:00:00", "2026-10-13T00:00:00"]
            ),
            // Time goes back in one order alone.
            (["3/2/2026 0:00", "1/3/2026 0:00"], ["2026-02-03T00:00:00", "2026-03-01T00:00:00"]),
            (["2/3/2026 0:00", "3/1/2026 0:00"], ["2026-02-03T00:00:00", "2026-03-01T00:00:00"]),
            // A day above 12 counts for more than AM and PM; they count for more than nothing.
            (["2/1/2026 1:00:00 PM", "13/1/2026 1:00:00 PM"], ["2026-01-02T13:00:00", "2026-01-13T13:00:00"]),
            (["2/1/2026 1:00:00 a.m.", "2/1/2026 1:00:01 a.m."], ["2026-02-01T01:00:00", "2026-02-01T01:00:01"]),
            // One that is not over yet.
            (["12/11/2026 1:00:00 PM", "12/27/2026 1:00 PM"], nil), (["11/12/2026 13:00", "24/12/2026 13:00"], nil),
            (["1/12/2027 13:00", "1/12/2026 13:00"], nil),
            (
                ["5/12/2026 13:00", "6/24/2026 13:00"],
                ["2026-05-12T13:00:00", "2026-06-24T13:00:00"]
            ),
            // Other signs, two digits of a year, a zone, JavaScript's comma and narrow space.
            (["21-11-2026 13:40:05.25", "21-11-2026 13:40:06"], ["2026-11-21T13:40:05", "2026-11-21T13:40:06"]),
            (["11/21/26 13:40"], ["2026-11-21T13:40:00"]), (["21/11/26 13:40"], nil),
            (["26/11/21 13:40", "26/11/30 13:40"], ["2026-11-21T13:40:00", "2026-11-30T13:40:00"]),
            (["11/21/2026 1:40:05 PM +01:00"], ["2026-11-21T12:40:05"]),
            (["\"11/21/2026, 1:40:05\u{202F}PM\""], ["2026-11-21T13:40:05"]),
            (["2026-11-21 1:40:05 PM"], ["2026-11-21T13:40:05"]), (["2026-11-21 13:40:05 PM"], nil),
            (["2/30/2026 13:40"], nil), (["13/13/2026 13:40"], nil), (["1/13/2026 1:00", "13/1/2026 1:00"], nil),
        ] as [([String], [String]?)])
    func orderOfADate_isWhatTheLinesTell(rows: [String], expected: [String]?) {
        #expect((try? dates(rows)) == expected)
        // The same as a spreadsheet saves it, and with the day in a column of its own.
        let saved = "\u{FEFF}Time\tu\r\n" + rows.map { "\($0)\t5\r\n" }.joined()
        let taken = try? take(saved, ImportOptions(zoneOffset: { _ in 0 }, latest: 1_798_000_000_000))
        #expect(taken?.readings.map { String($0.time.description.prefix(19)) } == expected)
        let parted = rows.map { row in
            let end = row.firstIndex(of: " ") ?? row.endIndex
            return "\(row[..<end]),\(row[end...].dropFirst())"
        }
        guard !rows.contains(where: { $0.contains("\"") }) else { return }
        #expect((try? dates(parted, names: "Date,Time,u")) == expected)
    }

    /// 10 November is in the future, so it is 11 October; 9 November has begun somewhere on earth, and may be meant.
    @Test(arguments: ["2026-11-08T00:00:00.000Z", "2026-11-08T12:00:00.000Z", "2026-11-08T23:59:59.999Z"])
    func dateMayBeOfTomorrow_andNoLater(now: String) throws {
        let latest = try #require(WallTime(now)).millisecondsSince1970
        #expect(try dates(["10/11/2026 13:00"], latest: latest) == ["2026-10-11T13:00:00"])
        #expect(
            importError { () throws(ImportError) in try dates(["9/11/2026 13:00"], latest: latest) }?.kind == .ambiguous
        )
    }

    /// What is missing is the day where there is a time of day, and the whole form where there is none.
    @Test(arguments: [
        ("13:40", true), ("13:40:05", true), ("1:40 pm", true), ("13:40:05+01:00", true), ("1 pm", false),
        ("13:40:05:07", false), (":", true), ("yesterday:", true), ("0:40 pm", false), ("13:40 pm", false),
        ("12:40 am", true), ("13:40+1", false),
    ])
    func timeWithoutADay_isToldApart(text: String, isHour: Bool) {
        let error = error("time,voltage_V\n\(text),5\n", ImportOptions(zoneOffset: { _ in 0 }))
        #expect(error?.kind == .badTime && error?.line == 2)
        #expect(
            error?.remedy.hasPrefix("name the column that has the day as well") == isHour, "\(error?.remedy ?? "-")")
    }

    @Test func whatNoLineTells_isAsked() throws {
        let rows = ["2/1/2026 13:00:00", "2/1/2026 13:00:01"]
        let error = importError { () throws(ImportError) in try dates(rows) }
        #expect(error?.kind == .ambiguous && error?.line == 2 && error?.column == "Time")
        #expect(
            error?.remedy
                == "say the order of day and month: --column time=Time:mdy or --column time=Time:dmy")
        #expect(try dates(rows, ["time=Time:mdy"]).first == "2026-02-01T13:00:00")
        #expect(try dates(rows, ["time=1:DMY"]).first == "2026-01-02T13:00:00")
        #expect(try dates(["2.1.2026 13:00"], ["time=1:mdy"]) == ["2026-02-01T13:00:00"])
        let parted = ["2/1/2026,13:00:00"]
        let other = importError { () throws(ImportError) in try dates(parted, names: "Date,Time,u") }
        #expect(other?.remedy.contains("--column date=Date:mdy or --column date=Date:dmy") == true)
        #expect(try dates(parted, ["date=Date:dmy"], names: "Date,Time,u") == ["2026-01-02T13:00:00"])
        // What nobody knows is named by a person, in whatever language.
        let named = ["date=Fecha:dmy", "time=Hora", "voltage=Tensión"]
        #expect(try dates(parted, named, names: "Fecha,Hora,Tensión") == ["2026-01-02T13:00:00"])
        // In the order that AM and PM promised there is no such date.
        let wrong = importError { () throws(ImportError) in try dates(["13/1/2026 13:00"], ["time=1:mdy"]) }
        #expect(wrong?.kind == .badTime && wrong?.remedy.contains("time=NAME:dmy") == true)
        for time in ["13:00", "yesterday 13:00", "31/31/2026 13:00"] {
            let none = importError { () throws(ImportError) in try dates(["31/1/2026 13:00", time]) }
            #expect(none?.kind == .badTime && none?.line == 3 && none?.remedy.contains("NAME:dmy") == false, "\(time)")
        }
        // A zone is asked for first, also while the order is open.
        let zone = self.error("Time,u\n2/1/2026 13:00:00,5\n")
        #expect(zone?.kind == .needsZone && zone?.line == 2)
        #expect(
            importError { () throws(ImportError) in try dates(["2/1/2026 13:00"], ["time=Time:xyz"]) }?.problem
                == "time has no unit \"xyz\"")
    }

    /// A day of one date is asked about, not kept in memory.
    @Test func doubtThatLasts_endsTheImport_withinBounds() {
        var reader = ImportReader(ImportOptions(zoneOffset: { _ in 0 }))
        let lines = Array(("Time,u\n" + String(repeating: "2/1/2026 13:00:00,5.012\n", count: 1000)).utf8)
        var count = 0
        let error = importError { () throws(ImportError) in
            for _ in 0..<200 {
                try reader.read(count == 0 ? lines : Array(lines.dropFirst(7))) { _, _ in }
                count += 1
            }
        }
        #expect(error?.kind == .ambiguous)
        #expect(count < 120)
    }

    /// A table that is separated by commas has its numbers in quotes where they have commas. 5.012 V and -0.25 A.
    @Test(
        arguments: [
            ("\"5,012\",\"-0,25\"", [], true), ("\"5,0120\",\"-0,250\"", [], true), ("\"5,012\",\"-2,5e-1\"", [], true),
            ("\"5,012\",\"-,25\"", [], true), ("\"5,012\",-250", ["current=I:mA"], false),
            ("\"5,012\",-250", ["current=I:mA", "decimal=comma"], true),
            ("\"5,012\",-250", ["voltage=U:mV", "current=I:mA", "decimal=point"], true),
            ("\"5,012\",-250.0", ["voltage=U:mV", "current=I:mA"], true),
            ("\"5,012.0\",-250", ["voltage=U:mV", "current=I:mA"], true),
            ("\"5,012,000\",-250", ["voltage=U:uV", "current=I:mA"], true),
            ("\"5,012\",-0.25", [], false), ("\"5,01,2\",\"-0,25\"", [], false), ("\"5,012\",\"-0.25\"", [], false),
        ] as [(String, [String], Bool)])
    func commaInANumber_isWhatTheLinesTell(row: String, columns: [String], isRead: Bool) throws {
        for text in [
            "Time,U,I\n2026-11-21T13:40:05Z,\(row)\n", "\u{FEFF}\"Time\",\"U\",\"I\"\r\n1795268405,\(row)\r\n",
        ] {
            var options = ImportOptions()
            for column in columns { try options.add(column: column) }
            options.ranges = { _ in [:] }
            let taken = try? take(text, options)
            let values = taken?.readings.first.map { [$0.reading[.voltage] ?? .nan, $0.reading[.current] ?? .nan] }
            #expect(
                (values.map { abs($0[0] - 5.012) < 1e-9 && abs($0[1] + 0.25) < 1e-9 } ?? false) == isRead, "\(text)")
        }
    }

    @Test func commaThatNoLineTells_isAsked_unlessTheMeterTellsIt() throws {
        let text = "Time,U\n1795268405,\"5,012\"\n1795268406,\"5,013\"\n"
        var options = ImportOptions()
        #expect(error(text)?.kind == .ambiguous && error(text)?.line == 2 && error(text)?.column == "U")
        #expect(error(text)?.problem.contains("can be 5.012 or 5012") == true)
        #expect(error(text)?.remedy.contains("--column decimal=comma or --column decimal=point") == true)
        options.ranges = { _ in [.voltage: 0...30] }
        #expect(try take(text, options).readings.map { $0.reading[.voltage] } == [5.012, 5.013])
        // What comes later tells of the lines before, and of their times.
        let later = "elapsed,U\n\"1,250\",\"5,012\"\n\"2,250\",\"4,9\"\n"
        let taken = try take(later, ImportOptions(start: 0))
        #expect(taken.readings.map { $0.reading[.voltage] } == [5.012, 4.9])
        #expect(taken.readings.map(\.time.millisecondsSince1970) == [1250, 2250])
        #expect(
            importError { () throws(ImportError) in try options.add(column: "decimal=x") }?.remedy
                == "it takes comma or point")
    }

    // MARK: Other loggers

    private static let start: Int64 = 1_767_261_600_000

    /// The tables that loggers of USB meters write, with invented values, and the first reading that each has.
    @Test(
        arguments: [
            // sebastianha/um34c README: milliseconds since 1970.
            (
                "timestamp,voltage,current,power,temperature_celsius,temperature_fahrenheit,dataline_plus,dataline_minus,"
                    + "resistence,mode_name,mode_number,unknown0\n1589300924385,5.19,0.25,1.3,21,70,0.1,0.2,9999.9,DCP1.5A,7,27395\n",
                1_589_300_924_385,
                [
                    .voltage: 5.19, .current: 0.25, .power: 1.3, .temperature: 21, .dataPlus: 0.1, .dataMinus: 0.2,
                    .resistance: nil,
                ]
            ),
            // TheHWcave/TC66 TC66C.py: two groups, of which nobody can say which one counts.
            (
                "Time[S],Volt[V],Current[A],Power[W],Res[Ohm],G0[mAh],G0[mWh],G1[mAh],G1[mWh],Temp[C],D+[V],D-[V]\n"
                    + "  1.5,05.0912,0.50123,02.5519,10.20,     0,     0,    12,    61,+24,2.70,2.60\n", start + 1500,
                [
                    .voltage: 5.0912, .current: 0.50123, .power: 2.5519, .resistance: 10.2, .temperature: 24,
                    .dataPlus: 2.7, .dataMinus: 2.6,
                ]
            ),
            // fabcj/tc66c-csv-logger: local times.
            (
                "timestamp,voltage_v,current_a,power_w,resistance_ohm,capacity_mah,energy_mwh,dplus_v,dminus_v,temperature_c\n"
                    + "2026-07-22 14:05:35.123,5.1234,0.51234,2.6234,10.00,1234,5678,2.75,2.7,25.0\n",
                1_784_729_135_123,
                [
                    .voltage: 5.1234, .current: 0.51234, .power: 2.6234, .resistance: 10, .charge: 1234, .energy: 5.678,
                    .dataPlus: 2.75, .dataMinus: 2.7, .temperature: 25,
                ]
            ),
            // gipean/KM003C: microunits, milliseconds since the start.
            (
                "timestamp_ms,vbus_µV,ibus_µA,vcc1_mV,vcc2_mV,vdp_mV,vdm_mV\n12,5079123,501234,1780.0,20.0,600,610\n",
                start + 12,
                [
                    .voltage: 5.079123, .current: 0.501234, .cc1: 1.78, .cc2: 0.02, .dataPlus: 0.6, .dataMinus: 0.61,
                ]
            ),
            // chaseleif/km003c: seconds since the start.
            (
                "elapsed,volt,amp,watt\n0.25,5.079123,0.501234,2.545829\n", start + 250,
                [.voltage: 5.079123, .current: 0.501234, .power: 2.545829]
            ),
            // dimorlus/TC66 phone.csv, which has no names, and data.csv, which has.
            ("0.00;5.13840;0.000000\n", start, [.voltage: 5.1384, .current: 0]),
            (
                "Time, s;Volts, V;Amps, A;Ah0;Wh0;Ah1;Wh1;W;Tc\n0.5;5.1;0.2;0.0;0.0;0.106;0.537;1.02;24.0\n",
                start + 500,
                [.voltage: 5.1, .current: 0.2, .power: 1.02, .temperature: 24]
            ),
        ] as [(String, Int64, [Quantity: Double?])])
    func otherLoggersTable_isTaken(text: String, time: Int64, values: [Quantity: Double?]) throws {
        for text in [text, "\u{FEFF}" + text.replacing("\n", with: "\r\n"), text.replacing(",", with: "\t")] {
            // `Time, s` is one name.
            guard !text.contains("Time\t s") else { continue }
            let taken = try take(text, ImportOptions(zoneOffset: { _ in 0 }, start: Self.start))
            #expect(taken.readings.map(\.time.millisecondsSince1970) == [time])
            let reading = try #require(taken.readings.first).reading
            for (quantity, value) in values {
                #expect(reading.supported.contains(quantity), "\(quantity)")
                #expect(abs((reading[quantity] ?? -1) - (value ?? -1)) < 1e-9, "\(quantity)")
            }
            #expect(Quantity.allCases.filter { reading.supported.contains($0) }.count == values.count)
        }
    }

    /// Tables of spreadsheets and of programs that nobody knows, with what a person says of their columns. Each has 5.012 V and
    /// -0.25 A.
    @Test(
        arguments: [
            ("Zeit;Spannung (V);Strom (mA)\n21.11.2026 13:40:05;5,012;-250\n", []),
            ("sep=;\nDatum;Uhrzeit;Spannung;Strom\n21.11.2026;13:40:05;5,012;-0,25\n;;;\n", []),
            ("Date,Time,U,I\n2026-11-21,13:40:05,5.012,-0.25\n", []),
            ("\"time\";\"vbus_mV\";\"ibus_uA\"\n\"2026-11-21 13:40:05\";\"5012\";\"-250000\"\n", []),
            ("stamp,a1,a2,note\n1795268405000,5012,-0.25,x\n", ["time=stamp:ms", "voltage=A1:mV", "current=a2"]),
            ("1795268405\t5.012\t-0.25\n", ["time=1", "voltage=2", "current=3:A"]),
            ("n;when;V in;A in\n7;2026-11-21 13:40:05;5,012;-0,25\n", ["time=when", "voltage=3", "current_A=A in"]),
            ("time,voltage_V,current_A\n2026-11-21T13:40:05Z,5012,-0.25\n", ["voltage=voltage_V:mV"]),
            (
                "timestamp,voltage,current,vbat\n1795268405,99,-0.25,5.012\n", ["voltage=vbat"]
            ),
            ("Run;Volt;Amp\n0.125;5.012;-0.25\n", ["time=Run:h"]),
        ] as [(String, [String])])
    func anyTable_isTaken_byItsNamesOrByWhatAPersonSays(text: String, columns: [String]) throws {
        var options = ImportOptions(zoneOffset: { _ in 0 }, start: 1_795_268_405_000 - 450_000)
        for column in columns { options.columns.append(try ImportColumn(column)) }

        let taken = try take(text, options)

        #expect(taken.readings.map(\.time.description) == ["2026-11-21T13:40:05.000Z"])
        let reading = try #require(taken.readings.first).reading
        #expect(abs((reading[.voltage] ?? 0) - 5.012) < 1e-9 && abs((reading[.current] ?? 0) + 0.25) < 1e-9)
        #expect(taken.reader.remarks.isEmpty)
        #expect(taken.reader.format == .table, "not ours, even with our names")
    }

    /// A column of 300 in each unit that is taken, as a person says it and as the column's name does. A factor of `nil`: refused.
    @Test(
        arguments: [
            ("voltage", "V v volt volts", 1), ("voltage", "mV", 1e-3), ("voltage", "uV µV μV", 1e-6),
            ("voltage", "nV", 1e-9), ("voltage", "kV", 1e3), ("voltage", "A mA", nil), ("dp", "mV", 1e-3),
            ("current", "A amp amps ampere", 1), ("current", "mA", 1e-3), ("current", "V Ah", nil),
            ("power", "W watt watts", 1), ("power", "kW", 1e3), ("energy", "Wh", 1), ("energy", "mWh", 1e-3),
            ("energy", "Ws J", 1 / 3600), ("energy", "kJ", 1 / 3.6), ("charge", "Ah", 1000), ("charge", "mAh", 1),
            ("charge", "As C", 1 / 3.6), ("charge", "mC", 1 / 3600), ("charge", "Wh", nil),
            ("resistance", "ohm ohms Ω Ω R", 1), ("resistance", "kΩ kohm", 1e3), ("resistance", "mΩ", 1e-3),
            ("frequency", "Hz", 1), ("frequency", "kHz", 1e3), ("duration", "s sec second seconds", 1),
            ("duration", "ms", 1e-3), ("duration", "min minutes", 60), ("duration", "h hours", 3600),
            ("temperature", "C °C celsius degC", 1), ("temperature", "m° V", nil), ("powerfactor", "%", nil),
        ] as [(String, String, Double?)])
    func units_areConverted(quantity: String, units: String, factor: Double?) throws {
        for unit in units.split(separator: " ") {
            let column = try? ImportColumn("\(quantity)=x:\(unit)")
            #expect((column != nil) == (factor != nil), "\(quantity), \(unit)")
            guard let column, let factor, let wanted = column.quantity else { continue }
            var options = ImportOptions()
            options.columns = [column]
            let taken = try take("time,x\n2026-11-21T13:40:05Z,300\n", options)
            let value = taken.readings.first?.reading[wanted] ?? .nan
            #expect(abs(value - 300 * factor) < 1e-9, "\(quantity), \(unit): \(value)")
        }
    }

    /// Degrees that do not begin at the same zero, and the file's own times.
    @Test func unitsOfTemperatures_andOfTimes_areConverted() throws {
        for (unit, value) in [
            ("F", 148.888_888_9), ("°F", 148.888_888_9), ("fahrenheit", 148.888_888_9), ("degF", 148.888_888_9),
            ("K", 26.85), ("kelvin", 26.85),
        ] {
            var options = ImportOptions()
            options.columns = [try ImportColumn("temperature=x:\(unit)")]
            let taken = try take("time,x\n2026-11-21T13:40:05Z,300\n", options)
            #expect(abs((taken.readings.first?.reading[.temperature] ?? .nan) - value) < 1e-6, "\(unit)")
        }
        for (unit, milliseconds) in [("us", 3), ("ms", 3000), ("s", 3_000_000), ("min", 180_000_000)]
            as [(String, Int64)]
        {
            var options = ImportOptions(start: 1_767_261_600_000)
            options.columns = [try ImportColumn("time=t:\(unit)")]
            let taken = try take("t,u\n3000,5\n", options)
            #expect(
                taken.readings.map { $0.time.millisecondsSince1970 - 1_767_261_600_000 } == [milliseconds], "\(unit)")
        }
    }

    /// A German Excel saves in Windows-1252, and writes units with a degree sign.
    @Test func latinHeader_isRead_andUnknownValuesAreNull() throws {
        let text = "Zeit;Spannung (V);Temperatur (°F);Leistung (W)\n2026-11-21 13:40:05Z;5;77;nan\n"
        let taken = try take(text.unicodeScalars.map { UInt8($0.value) })
        let reading = try #require(taken.readings.first).reading
        #expect(abs((reading[.temperature] ?? 0) - 25) < 1e-9)
        #expect(reading.supported.contains(.power) && reading[.power] == nil)
    }

    @Test(
        arguments: [
            ("mood=x", "no quantity is called"), ("voltage", "does not say which column"), ("voltage=", "does not say"),
            ("voltage=x:mA", "voltage has no unit"), ("time=x:V", "time has no unit"),
            ("voltage=x", "does not have a time and each of the columns"),
        ])
    func columnThatMeansNothing_isNamed(column: String, problem: String) throws {
        let error = importError { () throws(ImportError) in
            var options = ImportOptions()
            options.columns = [try ImportColumn(column)]
            return try take("time,u\n2026-11-21T13:40:05Z,5\n", options)
        }
        #expect(error?.problem.contains(problem) == true)
        #expect(error?.remedy.isEmpty == false)
    }

    @Test func whatWasAssumed_isSaid() throws {
        let options = ImportOptions(zoneOffset: Self.prague, start: 0)
        #expect(try take("0.00;5.1;0.2\n", options).reader.remarks.first?.contains("names no columns") == true)
        let doubled = "Time,Voltage (V),Current (A)\n2025-10-26 02:30:00,5,1\n2025-10-26 02:40:00,5,1\n"
        #expect(try take(doubled, options).reader.remarks.first?.contains("there twice") == true)
        #expect(try take(doubled + "2025-10-26 02:10:00,5,1\n", options).reader.remarks == [])
        // An hour is missing where it goes on, so it was the second.
        let second = "Time,Voltage (V),Current (A)\n2025-10-26 02:59:50,5,1\n2025-10-26 03:00:00,5,1\n"
        #expect(error(second, options)?.remedy == "say the zone of the second: --zone +01:00")
        let skipped = error("Time,Voltage (V),Current (A)\n2026-03-29 02:30:00,5,1\n", options)
        #expect(skipped?.problem.contains("clocks were set forward") == true)
    }

    /// A logger's fields with times as people write them; forks of loggers do.
    @Test(
        arguments: [
            ("2026-07-22T14:05:35.123Z", 123), ("2026-07-22 16:05:35.123+02:00", 123), ("2026-07-22T16:05:35+0200", 0),
            ("2026-07-22 14:05:35,123", 123), ("2026-07-22T14:05:35.123456", 123), ("2026/07/22 14:05:35", 0),
            ("22.07.2026 14:05:35", 0), ("22.07.26 14:05:35", 0), ("2026-07-22 14:05:35 UTC", 0),
            ("2026-07-22 14:05", -35_000),
            ("22.07.2026 14:05", -35_000), ("1784729135.123", 123), ("1784729135123", 123), ("1784729135123000", 123),
            ("2026-07-22 16:05:35.123 +02:00", 123),
        ])
    func timesOfForks_areRead(time: String, milliseconds: Int64) throws {
        for names in [
            "timestamp\tsample_in_packet\tvoltage_V\tcurrent_A", "timestamp\tn\tvoltage_v\tcurrent_a",
            "Time\tn\tVoltage (V)\tCurrent (A)",
        ] {
            let taken = try take("\(names)\n\"\(time)\"\t0\t5\t1\n", ImportOptions(zoneOffset: { _ in 0 }))
            #expect(taken.readings.map(\.time.millisecondsSince1970) == [1_784_729_135_000 + milliseconds], "\(names)")
        }
    }
}
