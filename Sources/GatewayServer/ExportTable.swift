import Domain
import Gateway
import NIOCore

/// Writes readings as CSV with a header, or as one JSON object per line, as `meterctl watch` and `meterctl record
/// export` do. A line contains all meters' readings for one time.
struct ExportTable {
    enum Format: String, CaseIterable {
        case csv, json
    }

    struct Column {
        /// Name in headings; nil if there is only one meter.
        var meter: String?
        /// Measured quantities. In CSV, each has a column, even if its values are unknown.
        var quantities: [Quantity]
        /// Nil if the meter has no marks in the exported period.
        var marks: ExportMarks?
        fileprivate let label: [UInt8]

        init(meter: String?, quantities: [Quantity], marks: [Mark] = []) {
            self.meter = meter
            self.quantities = quantities
            self.marks = marks.isEmpty ? nil : ExportMarks(marks)
            var label: [UInt8] = []
            if let meter { JSONText.write(meter, to: &label) }
            self.label = label
        }
    }

    let format: Format
    private(set) var columns: [Column]
    /// Length of the window whose means form a line; zero for single readings.
    private let every: Duration
    private var second: Int64?
    /// Cached text of the current second, such as `2026-11-25T13:40:05.`, shared by its readings.
    private var prefix: [UInt8] = []

    init(format: Format, columns: [Column], every: Duration = .zero) {
        self.format = format
        self.columns = columns
        self.every = every
    }

    var header: String {
        guard format == .csv else { return "" }
        let names = columns.flatMap { column in
            (column.quantities.map(\.key) + (column.marks == nil ? [] : ["mark"])).map { key in
                (column.meter.map { "\($0).\(key)" } ?? key).csvField
            }
        }
        return (["time"] + names).joined(separator: ",") + "\n"
    }

    /// - Parameter readings: one for each column; nil without a reading at this time.
    mutating func append(_ time: WallTime, _ readings: [Reading?], to buffer: inout ByteBuffer) {
        switch format {
        case .csv: appendCSV(time, readings, to: &buffer)
        case .json: appendJSON(time, readings, to: &buffer)
        }
    }

    private mutating func appendCSV(_ time: WallTime, _ readings: [Reading?], to buffer: inout ByteBuffer) {
        append(time, to: &buffer)
        for (index, reading) in zip(columns.indices, readings) {
            for quantity in columns[index].quantities {
                buffer.writeInteger(UInt8(ascii: ","))
                if let value = reading?[quantity] { buffer.writeString(value.description) }
            }
            guard columns[index].marks != nil else { continue }
            buffer.writeInteger(UInt8(ascii: ","))
            // A mark appears on the next line with a reading of its meter.
            guard reading != nil, let names = columns[index].marks?.names(at: time, for: every) else { continue }
            buffer.writeString(names.joined(separator: "; ").csvField)
        }
        buffer.writeInteger(UInt8(ascii: "\n"))
    }

    private mutating func appendJSON(_ time: WallTime, _ readings: [Reading?], to buffer: inout ByteBuffer) {
        buffer.writeString("{\"time\":\"")
        append(time, to: &buffer)
        buffer.writeInteger(UInt8(ascii: "\""))
        for (index, reading) in zip(columns.indices, readings) {
            guard let reading else { continue }
            let names = columns[index].marks?.names(at: time, for: every)
            guard columns[index].meter != nil else {
                Self.append(reading, names, after: ",", to: &buffer)
                continue
            }
            buffer.writeString(",")
            buffer.writeBytes(columns[index].label)
            buffer.writeString(":{")
            Self.append(reading, names, after: "", to: &buffer)
            buffer.writeString("}")
        }
        buffer.writeString("}\n")
    }

    /// Writes null for a quantity that the model measures, but whose value is unknown.
    private static func append(
        _ reading: Reading, _ marks: [String]?, after first: String, to buffer: inout ByteBuffer
    ) {
        var separator = first
        reading.forEach { quantity, value in
            buffer.writeString(separator)
            buffer.writeString("\"")
            buffer.writeString(quantity.key)
            buffer.writeString("\":")
            buffer.writeString(value?.description ?? "null")
            separator = ","
        }
        guard let marks else { return }
        buffer.writeString(separator + "\"marks\":")
        buffer.writeBytes(JSONValue.array(marks.map { .string($0) }).bytes)
    }

    private mutating func append(_ time: WallTime, to buffer: inout ByteBuffer) {
        let (quotient, remainder) = time.millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        let present = remainder < 0 ? quotient - 1 : quotient
        if present != second {
            second = present
            prefix = Array(time.description.utf8.dropLast(4))
        }
        buffer.writeBytes(prefix)
        let milliseconds = remainder < 0 ? remainder + 1000 : remainder
        for divisor: Int64 in [100, 10, 1] {
            buffer.writeInteger(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: milliseconds / divisor % 10))
        }
        buffer.writeInteger(UInt8(ascii: "Z"))
    }
}

struct ExportWindows {
    private var windows: [WallTime: Window] = [:]
    private let length: Int64

    private struct Window {
        var bucket: SampleBucket
        var last = Reading()
    }

    /// The meter's own counters, of which a window contains the last values, not the means.
    private static let counters: QuantitySet = [
        QuantitySet(.energy, .charge, .countedEnergy, .countedCharge, .duration, .price)
    ]

    /// - Parameter length: milliseconds per window, above 0.
    init(length: Int64) { self.length = length }

    mutating func add(_ piece: StoredPiece) {
        let start = piece.time.floored(to: length)
        var window = windows[start] ?? Window(bucket: SampleBucket(start: start))
        switch piece {
        case .reading(let sample): window.bucket.add(sample.reading)
        case .bucket(let bucket, _): window.bucket.merge(bucket)
        }
        piece.reading.known.forEach { window.last[$0] = piece.reading[$0] }
        windows[start] = window
    }

    var times: some Sequence<WallTime> { windows.keys }

    /// Returns means, and the last values of counters; nil for an empty window.
    func reading(at time: WallTime) -> Reading? {
        guard let window = windows[time] else { return nil }
        var reading = window.bucket.means
        // Remove rounding errors of floating-point sums.
        reading.known.forEach { reading[$0] = reading[$0]?.toMillionths }
        window.last.known.intersection(Self.counters).forEach { reading[$0] = window.last[$0] }
        return reading
    }
}
