import Domain
import Gateway
import GatewayAPI
import Hummingbird
import NIOCore

struct ExportWriting {
    private static let chunkBytes = 64 * 1024

    private var table: ExportTable
    private let series: SeriesService
    private var buffer = ByteBuffer()

    init(table: ExportTable, series: SeriesService) {
        self.table = table
        self.series = series
    }

    typealias Write = (ByteBuffer) async throws -> Void

    /// - Parameter every: length of an averaging window in milliseconds; nil to write every reading of a single meter.
    mutating func run(
        _ meters: [MeterID], _ span: Range<WallTime>, every: Int64?, _ write: Write
    ) async throws {
        buffer.writeString(table.header)
        if let every {
            try await appendWindows(of: meters, in: span, every: every, write)
        } else {
            try await appendAll(of: meters[0], in: span, write)
        }
        try await send(write)
    }

    private mutating func appendAll(of meter: MeterID, in span: Range<WallTime>, _ write: Write) async throws {
        try await series.pages(of: meter, in: span) { page in
            for piece in page {
                table.append(piece.time, [piece.reading], to: &buffer)
                if buffer.readableBytes >= Self.chunkBytes { try await send(write) }
            }
        }
    }

    /// Writes a line of means per window. Loads some minutes of all meters at a time.
    private mutating func appendWindows(
        of meters: [MeterID], in span: Range<WallTime>, every: Int64, _ write: Write
    ) async throws {
        let slab = every * max(1, SampleTier.second.blockLength / every)
        var start = span.lowerBound
        while let next = try await first(of: meters, in: start..<span.upperBound) {
            start = max(start, next.floored(to: slab))
            let end = min(start.floored(to: slab) + .milliseconds(slab), span.upperBound)
            var all: [ExportWindows] = []
            for meter in meters {
                var windows = ExportWindows(length: every)
                try await series.pages(of: meter, in: start..<end) { page in
                    for piece in page { windows.add(piece) }
                }
                all.append(windows)
            }
            for time in Set(all.flatMap { Array($0.times) }).sorted() {
                table.append(time, all.map { $0.reading(at: time) }, to: &buffer)
                if buffer.readableBytes >= Self.chunkBytes { try await send(write) }
            }
            guard end < span.upperBound else { return }
            start = end
        }
    }

    private func first(of meters: [MeterID], in span: Range<WallTime>) async throws -> WallTime? {
        var first: WallTime?
        for meter in meters {
            guard let next = try await series.first(of: meter, in: span) else { continue }
            first = min(first ?? next, next)
        }
        return first
    }

    private mutating func send(_ write: Write) async throws {
        guard buffer.readableBytes > 0 else { return }
        try await write(buffer)
        buffer = ByteBuffer()
        buffer.reserveCapacity(Self.chunkBytes + 1024)
    }
}

extension SeriesService {
    /// Returns the measured quantities. Requests only one point of the series, because it has all quantities of the
    /// span.
    func quantities(of meter: MeterID, in span: Range<WallTime>) async throws -> [Quantity] {
        try await series(of: meter, in: span, points: 1, quantities: Quantity.allCases).columns.map(\.quantity)
    }
}
