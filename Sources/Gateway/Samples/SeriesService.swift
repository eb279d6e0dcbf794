package import MeterModel

/// Readings of a meter over any stretch of time, to the last second: what the store has, and what waits to be stored.
package struct SeriesService: Sendable {
    private let repository: any TierRepository
    private let samples: any SampleRepository
    private let recorder: SampleRecorder
    private let wallNow: @Sendable () -> WallTime

    package init(
        repository: any TierRepository & SampleRepository, recorder: SampleRecorder,
        wallNow: @escaping @Sendable () -> WallTime
    ) {
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
        // Before the store is asked: what is written meanwhile is in both, and told by its time.
        let waiting = recorder.waiting(of: meter)
        var builder = SeriesBuilder(span: span, points: points, quantities: quantities)
        do {
            builder = try await repository.fill(builder, of: meter)
            let stored = builder.latest
            for chunk in waiting {
                try chunk.forEach { sample in
                    if stored.map({ $0 < sample.time }) ?? true { builder.add(sample.time, sample.reading) }
                }
            }
        } catch {
            throw GatewayError(error, doing: "reading the readings of \(meter)")
        }
        return builder.finish()
    }

    /// How much of the time is read at once: some thousand readings of a fast meter, and whole blocks of seconds.
    private static let pageLength = SampleTier.second.blockLength

    /// Calls `body` for each reading of a span, by time, a bounded part of them in memory at once. Goes from one stored
    /// reading to the next, so that years without any, which one step of the calendar makes, cost nothing. Of a time whose single
    /// readings were summed up, the means of its seconds, or of its minutes where those are gone too.
    package func readings(
        of meter: MeterID, in span: Range<WallTime>, _ body: (StoredSample) async throws -> Void
    ) async throws {
        // Before the store is asked: what is written meanwhile is in both, and told by its time.
        let waiting = try recorder.waiting(of: meter).flatMap { try $0.samples() }
            .filter { span.contains($0.time) }.sorted { $0.time < $1.time }
        var last: WallTime?
        var start = span.lowerBound
        while start < span.upperBound, let next = try await firstStored(of: meter, in: start..<span.upperBound) {
            try Task.checkCancellation()
            start = max(start, next.floored(to: Self.pageLength))
            let end = min(start.floored(to: Self.pageLength) + .milliseconds(Self.pageLength), span.upperBound)
            for sample in try await page(of: meter, in: start..<end) {
                try await body(sample)
                last = sample.time
            }
            start = end
        }
        for sample in waiting where last.map({ $0 < sample.time }) ?? true { try await body(sample) }
    }

    private func firstStored(of meter: MeterID, in span: Range<WallTime>) async throws(GatewayError) -> WallTime? {
        do {
            return try await repository.firstStored(of: meter, in: span)
        } catch {
            throw GatewayError(error, doing: "reading the readings of \(meter)")
        }
    }

    private func page(of meter: MeterID, in span: Range<WallTime>) async throws(GatewayError) -> [StoredSample] {
        do {
            let samples = try await self.samples.samples(of: meter, in: span, limit: .max)
            let seconds = try await repository.buckets(.second, of: meter, in: span)
            let coarse =
                samples.isEmpty && seconds.isEmpty
                ? try await repository.buckets(.minute, of: meter, in: span) : seconds
            guard !coarse.isEmpty else { return samples }
            return (samples + coarse.map { StoredSample(time: $0.start, reading: $0.means) })
                .sorted { $0.time < $1.time }
        } catch {
            throw GatewayError(error, doing: "reading the readings of \(meter)")
        }
    }
}
