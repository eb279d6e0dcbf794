import Domain
import Gateway
import NIOCore
import Testing

@testable import GatewayServer

struct ExportTableTests {
    private let time = WallTime(millisecondsSince1970: 1_795_000_000_007)

    private func reading(_ voltage: Double?, _ current: Double?) -> Reading {
        var reading = Reading()
        reading[.voltage] = voltage
        reading[.current] = current
        return reading
    }

    private func text(
        _ format: ExportTable.Format, _ columns: [(String?, [Quantity])], _ rows: [(WallTime, [Reading?])]
    ) throws -> String {
        var table = ExportTable(
            format: format, columns: columns.map { ExportTable.Column(meter: $0.0, quantities: $0.1) })
        var buffer = ByteBuffer(string: table.header)
        for (time, readings) in rows { table.append(time, readings, to: &buffer) }
        return String(buffer: buffer)
    }

    @Test func csv_hasAHeader_andAnEmptyFieldForWhatIsNotKnown() throws {
        let text = try text(.csv, [(nil, [.voltage, .current])], [(time, [reading(5.1, nil)])])

        #expect(text == "time,voltage_V,current_A\n\(time),5.1,\n")
    }

    @Test func json_hasNullForWhatIsNotKnown() throws {
        let text = try text(.json, [(nil, [.voltage])], [(time, [reading(5.1, nil)])])

        #expect(text == "{\"time\":\"\(time)\",\"voltage_V\":5.1,\"current_A\":null}\n")
    }

    @Test func severalMeters_haveTheirNames_quotedWhereNeeded() throws {
        let columns: [(String?, [Quantity])] = [("a,\"b\u{9B}", [.voltage]), ("c", [.current])]
        let rows = [(time, [nil, reading(1, 2)])]

        #expect(try text(.csv, columns, rows) == "time,\"a,\"\"b\u{9B}.voltage_V\",c.current_A\n\(time),,2.0\n")
        #expect(
            try text(.json, columns, [(time, [reading(1, 2), nil])])
                == "{\"time\":\"\(time)\",\"a,\\\"b\\u009b\":{\"voltage_V\":1.0,\"current_A\":2.0}}\n")
    }

    /// Marks that begin and end so many seconds after the begin, and the names that lines have at each second.
    @Test(
        arguments: [
            // A moment between two lines, one on a line, two at once.
            ([("a", 0.5, 0.5), ("b", 2, 2), ("c", 2, 2)], 0.0, [[], ["a"], ["b", "c"], []]),
            // A span, an open one that began before, and one between two lines.
            ([("z", -9, nil), ("s", 1, 2), ("t", 1.2, 1.4)], 0, [["z"], ["z", "s"], ["z", "s", "t"], ["z"]]),
            // Lines that stand for the second that follows.
            ([("a", 0.5, 0.5), ("b", 2, 2), ("s", 2.5, 3)], 1, [["a"], [], ["b", "s"], ["s"]]),
        ] as [([(String, Double, Double?)], Double, [[String]])])
    func marks_areAtTheirLines(marks: [(String, Double, Double?)], length: Double, lines: [[String]]) {
        let host = HostID(high: 1, low: 1)
        func at(_ seconds: Double) -> WallTime { time + .milliseconds(Int64(seconds * 1000)) }
        var column = ExportMarks(
            marks.map { name, start, end in
                let id = RecordingID(host: host, meter: .port(host: "pi", path: "/p"), token: 0, started: at(start))
                return Mark(id: id, name: name, end: end.map(at))
            })

        #expect(lines.indices.map { column.names(at: at(Double($0)), for: .seconds(length)) } == lines)
    }

    @Test func marks_areTheLastColumn_andAnArrayInJSON() throws {
        let mark = Mark(
            id: RecordingID(
                host: HostID(high: 1, low: 1), meter: .port(host: "pi", path: "/p"), token: 0, started: time),
            name: #"say "on", off"#, end: time)
        for (meter, format, expected) in [
            (
                nil, ExportTable.Format.csv,
                "time,voltage_V,mark\n\(time),1.0,\"say \"\"on\"\", off\"\n\(time + .seconds(1)),1.0,\n"
            ),
            (
                "m", .json,
                #"{"time":"\#(time)","m":{"voltage_V":1.0,"current_A":null,"marks":["say \"on\", off"]}}"# + "\n"
                    + #"{"time":"\#(time + .seconds(1))","m":{"voltage_V":1.0,"current_A":null,"marks":[]}}"# + "\n"
            ),
        ] as [(String?, ExportTable.Format, String)] {
            var table = ExportTable(
                format: format, columns: [ExportTable.Column(meter: meter, quantities: [.voltage], marks: [mark])])
            var buffer = ByteBuffer(string: table.header)
            for step in 0...1 { table.append(time + .seconds(step), [reading(1, nil)], to: &buffer) }
            #expect(String(buffer: buffer) == expected)
        }
    }

    /// The second is written once for many readings: that of each must be its own.
    @Test(arguments: [
        [0, 1, 999, 1000, 1001, 61_000, 1, -1, -1000, -1001, 86_400_000, 253_402_300_799_999], [-62_167_219_200_000],
    ])
    func times_areWrittenAsEverywhere(milliseconds: [Int64]) throws {
        let times = milliseconds.map(WallTime.init(millisecondsSince1970:))
        let text = try text(.csv, [(nil, [])], times.map { ($0, [Reading()]) })

        #expect(text == (["time"] + times.map(\.description)).map { $0 + "\n" }.joined())
    }

    @Test func window_hasMeans_andOfCountersTheLast() throws {
        var windows = ExportWindows(length: 1000)
        for number in 0..<4 {
            var reading = reading(Double(number), 1)
            reading[.energy] = Double(10 + number)
            windows.add(
                .reading(
                    StoredSample(time: WallTime(millisecondsSince1970: 5000 + Int64(number) * 250), reading: reading)))
        }
        let start = WallTime(millisecondsSince1970: 5000)

        #expect(Array(windows.times) == [start])
        let folded = try #require(windows.reading(at: start))
        #expect(folded[.voltage] == 1.5)
        #expect(folded[.energy] == 13)
        #expect(windows.reading(at: WallTime(millisecondsSince1970: 6000)) == nil)
    }
}
