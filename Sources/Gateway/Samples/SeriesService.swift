package import Domain

/// Reads a meter's readings over any span, including those not stored yet.
package struct SeriesService: Sendable {
    private let repository: any TierRepository
    private let samples: any SampleRepository
    private let recorder: SampleRecorder
    private let wallNow: @Sendable () -> WallTime
    private let ids: @Sendable (MeterID) async -> [MeterID]
    private let staleAfter: @Sendable (MeterID) async -> Duration?

    /// - Parameters:
    ///   - ids: returns all ids under which a meter's readings may be stored.
    ///   - staleAfter: returns the silence after which a meter's data are stale; nil if unknown.
    package init(
        repository: any TierRepository & SampleRepository, recorder: SampleRecorder,
        wallNow: @escaping @Sendable () -> WallTime, ids: @escaping @Sendable (MeterID) async -> [MeterID] = { [$0] },
        staleAfter: @escaping @Sendable (MeterID) async -> Duration? = { _ in nil }
    ) {
        self.ids = ids
        self.staleAfter = staleAfter
        self.repository = repository
        samples = repository
        self.recorder = recorder
        self.wallNow = wallNow
    }

    package var now: WallTime { wallNow() }

    /// - Parameter points: maximum number of points, 1 to `SeriesBuilder.pointsMax`.
    package func series(
        of meter: MeterID, in span: Range<WallTime>, points: Int, quantities: [Quantity]
    ) async throws(GatewayError) -> Series {
        var builder = SeriesBuilder(
            span: span, points: points, quantities: quantities, staleAfter: await staleAfter(meter))
        try await GatewayError.doing("reading the readings of \(meter)") {
            for id in await ids(meter) {
                // Must precede the store's query: readings written meanwhile are then in both results, so skip them by
                // their time.
                let waiting = recorder.waiting(of: id)
                builder.beginID()
                builder = try await repository.fill(builder, of: id)
                let stored = builder.latest
                for chunk in waiting {
                    for bucket in try chunk.seconds() where stored.map({ $0 < bucket.start }) ?? true {
                        builder.add(bucket)
                    }
                    guard !chunk.holdsSeconds else { continue }
                    try chunk.forEach { sample in
                        if stored.map({ $0 < sample.time }) ?? true { builder.add(sample.time, sample.reading) }
                    }
                }
            }
        }
        return builder.finish()
    }

    /// Time spans of short and long pages in milliseconds; long ones are for sparse data (`pieceCountMax`).
    private static let pageLengths: [Int64] = [SampleTier.minute.rawValue, SampleTier.second.blockLength]
    /// Limit of `StoredPiece` values in a long page; above it, the next page is short. Ten minutes of a fast meter
    /// would take 100 MB.
    private static let pieceCountMax = 50_000

    /// Calls `body` for each reading in time order, with bounded memory. Compacted periods yield means of seconds, or
    /// of minutes if the seconds were deleted too.
    package func readings(
        of meter: MeterID, in span: Range<WallTime>, _ body: (StoredSample) async throws -> Void
    ) async throws {
        try await pages(of: meter, in: span) { page in
            for piece in page { try await body(StoredSample(time: piece.time, reading: piece.reading)) }
        }
    }

    /// Calls `body` with pages of readings, or of the buckets that replaced them, in time order.
    package func pages(
        of meter: MeterID, in span: Range<WallTime>, _ body: ([StoredPiece]) async throws -> Void
    ) async throws {
        // Get unsaved readings before querying the store, as in `series`.
        let ids = await ids(meter)
        let waiting = try waiting(of: ids, in: span).sorted { $0.time < $1.time }
        var last: WallTime?
        var start = span.lowerBound
        var length = Self.pageLengths[0]
        while start < span.upperBound, let next = try await firstStored(of: ids, in: start..<span.upperBound) {
            try Task.checkCancellation()
            start = max(start, next.floored(to: length))
            let end = min(start.floored(to: length) + .milliseconds(length), span.upperBound)
            let pieces = try await page(of: ids, in: start..<end)
            if !pieces.isEmpty { try await body(pieces) }
            last = pieces.last?.time ?? last
            start = end
            let isFull = pieces.count * Int(Self.pageLengths[1] / length) > Self.pieceCountMax
            length = Self.pageLengths[isFull ? 0 : 1]
        }
        let rest = waiting.filter { piece in last.map { $0 < piece.time } ?? true }
        if !rest.isEmpty { try await body(rest) }
    }

    /// Returns the time of the first reading or bucket in a span, including readings not stored yet.
    package func first(of meter: MeterID, in span: Range<WallTime>) async throws -> WallTime? {
        let ids = await ids(meter)
        let waiting = try waiting(of: ids, in: span).map(\.time).min()
        guard let stored = try await firstStored(of: ids, in: span) else { return waiting }
        return min(stored, waiting ?? stored)
    }

    private func waiting(of ids: [MeterID], in span: Range<WallTime>) throws -> [StoredPiece] {
        try ids.flatMap { try recorder.waiting(of: $0).flatMap { try $0.pieces() } }.filter { span.contains($0.time) }
    }

    private func firstStored(of ids: [MeterID], in span: Range<WallTime>) async throws(GatewayError) -> WallTime? {
        var first: WallTime?
        for id in ids {
            let time = try await GatewayError.doing("reading the readings of \(id)") {
                try await repository.firstStored(of: id, in: span)
            }
            if let time { first = min(time, first ?? time) }
        }
        return first
    }

    private func page(of ids: [MeterID], in span: Range<WallTime>) async throws(GatewayError) -> [StoredPiece] {
        var pieces: [StoredPiece] = []
        for id in ids { pieces += try await page(of: id, in: span) }
        if ids.count > 1 { pieces.sort { $0.time < $1.time } }
        return pieces
    }

    private func page(of meter: MeterID, in span: Range<WallTime>) async throws(GatewayError) -> [StoredPiece] {
        // A minute bucket is used only if no reading or second bucket of its minute is left. The span may end inside a
        // minute, so search that minute to its end.
        let minute = SampleTier.minute.rawValue
        let begun = span.upperBound.floored(to: minute)
        let whole = span.lowerBound..<(begun == span.upperBound ? begun : begun + .milliseconds(minute))
        return try await GatewayError.doing("reading the readings of \(meter)") {
            let samples = try await self.samples.samples(of: meter, in: whole, limit: .max)
            let seconds = try await repository.buckets(.second, of: meter, in: whole)
            let isBare = samples.isEmpty && seconds.isEmpty
            let coarse = isBare ? try await repository.buckets(.minute, of: meter, in: span) : seconds
            // Reserve once: the readings of a fast meter's minute take a megabyte.
            var pieces: [StoredPiece] = []
            pieces.reserveCapacity(samples.count + coarse.count)
            for sample in samples where span.contains(sample.time) { pieces.append(.reading(sample)) }
            for bucket in coarse where span.contains(bucket.start) {
                pieces.append(.bucket(bucket, isBare ? .minute : .second))
            }
            if !coarse.isEmpty { pieces.sort { $0.time < $1.time } }
            return pieces
        }
    }
}
