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
