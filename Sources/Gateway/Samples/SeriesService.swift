package import Domain

/// Readings of a meter over any stretch of time, to the last second: what the store has, and what waits to be stored.
package struct SeriesService: Sendable {
    private let repository: any TierRepository
    private let samples: any SampleRepository
    private let recorder: SampleRecorder
    private let wallNow: @Sendable () -> WallTime
    private let ids: @Sendable (MeterID) async -> [MeterID]

    /// - Parameter ids: all ids under which a meter's readings may be stored.
    package init(
        repository: any TierRepository & SampleRepository, recorder: SampleRecorder,
        wallNow: @escaping @Sendable () -> WallTime, ids: @escaping @Sendable (MeterID) async -> [MeterID] = { [$0] }
    ) {
        self.ids = ids
        self.repository = repository
        samples = repository
        self.recorder = recorder
        self.wallNow = wallNow
    }

    /// This host's calendar: what a series without an end goes up to.
    package var now: WallTime { wallNow() }

    /// - Parameter points: at most so many, 1 to `SeriesBuilder.pointsMax`.
    package func series(
        of meter: MeterID, in span: Range<WallTime>, points: Int, quantities: [Quantity]
    ) async throws(GatewayError) -> Series {
        var builder = SeriesBuilder(span: span, points: points, quantities: quantities)
        do {
            for id in await ids(meter) {
                // Before the store is asked: what is written meanwhile is in both, and told by its time.
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
        } catch {
            throw GatewayError(error, doing: "reading the readings of \(meter)")
        }
        return builder.finish()
    }

    /// How much of the time is read at once: whole blocks of minutes, and of seconds where that are not too many.
    private static let pageLengths: [Int64] = [SampleTier.minute.rawValue, SampleTier.second.blockLength]
    /// Beyond this the next page is a short one: a fast meter's ten minutes would be a hundred megabytes.
    private static let pieceCountMax = 50_000

    /// Calls `body` for each reading of a span, by time, a bounded part of them in memory at once. Goes from one stored
    /// reading to the next, so that years without any, which one step of the calendar makes, cost nothing. Of a time whose single
    /// readings were summed up, the means of its seconds, or of its minutes where those are gone too.
    package func readings(
        of meter: MeterID, in span: Range<WallTime>, _ body: (StoredSample) async throws -> Void
    ) async throws {
        try await pages(of: meter, in: span) { page in
            for piece in page { try await body(StoredSample(time: piece.time, reading: piece.reading)) }
        }
    }

    /// The same, some of them at a time, with what is left of those that were summed up.
    package func pages(
        of meter: MeterID, in span: Range<WallTime>, _ body: ([StoredPiece]) async throws -> Void
    ) async throws {
        // Before the store is asked: what is written meanwhile is in both, and told by its time.
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

    /// When the first was measured of which anything is left in a span, what is not stored yet included.
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
            do {
                guard let time = try await repository.firstStored(of: id, in: span) else { continue }
                first = min(time, first ?? time)
            } catch {
                throw GatewayError(error, doing: "reading the readings of \(id)")
            }
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
        // Whether its sum is all that is left of a minute is told by the whole of it, of which the span may have a part.
        let minute = SampleTier.minute.rawValue
        let begun = span.upperBound.floored(to: minute)
        let whole = span.lowerBound..<(begun == span.upperBound ? begun : begun + .milliseconds(minute))
        do {
            let samples = try await self.samples.samples(of: meter, in: whole, limit: .max)
            let seconds = try await repository.buckets(.second, of: meter, in: whole)
            let isBare = samples.isEmpty && seconds.isEmpty
            let coarse = isBare ? try await repository.buckets(.minute, of: meter, in: span) : seconds
            // A fast meter's minute is a megabyte, and is in memory once beside what was read.
            var pieces: [StoredPiece] = []
            pieces.reserveCapacity(samples.count + coarse.count)
            for sample in samples where span.contains(sample.time) { pieces.append(.reading(sample)) }
            for bucket in coarse where span.contains(bucket.start) {
                pieces.append(.bucket(bucket, isBare ? .minute : .second))
            }
            if !coarse.isEmpty { pieces.sort { $0.time < $1.time } }
            return pieces
        } catch {
            throw GatewayError(error, doing: "reading the readings of \(meter)")
        }
    }
}
