package import MeterModel

/// Readings of a meter over any stretch of time, to the last second: what the store has, and what waits to be stored.
package struct SeriesService: Sendable {
    private let repository: any TierRepository
    private let recorder: SampleRecorder
    private let wallNow: @Sendable () -> WallTime

    package init(
        repository: any TierRepository, recorder: SampleRecorder, wallNow: @escaping @Sendable () -> WallTime
    ) {
        self.repository = repository
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
}
