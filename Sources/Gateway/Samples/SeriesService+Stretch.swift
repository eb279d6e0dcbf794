package import Domain
import GatewayAPI

extension SeriesService {
    /// Maximum span computed from single readings; longer ones use `SeriesBuilder.pointsMax` points.
    private static let singleReadingsMax = Duration.seconds(86_400)

    package func summary(
        of meter: MeterID, in span: Range<WallTime>, host: HostID, name: String? = nil
    ) async throws -> StretchSummary {
        if span.lowerBound + Self.singleReadingsMax < span.upperBound {
            let series = try await series(
                of: meter, in: span, points: SeriesBuilder.pointsMax, quantities: Quantity.allCases)
            var summary = StretchSummary(host: host, meter: meter, name: name, length: series.width)
            for index in series.times.indices { series.add(index, to: &summary) }
            return summary
        }
        var summary = StretchSummary(host: host, meter: meter, name: name)
        try await pages(of: meter, in: span) { page in for piece in page { summary.add(piece) } }
        return summary
    }

    /// Returns the energy of a span of at most a day, one sample for each reading. The samples add up to the summary's
    /// energy.
    ///
    /// - Parameter budget: number of readings that may be loaded; reduced by those loaded.
    package func energy(
        of meter: MeterID, in span: Range<WallTime>, host: HostID, samplesMax: Int, budget: inout Int
    ) async throws -> EnergySamples {
        var summary = StretchSummary(host: host, meter: meter)
        var samples = EnergySamples(samplesMax: samplesMax)
        var left = budget
        try await pages(of: meter, in: span) { page in
            left -= page.count
            guard left >= 0 else {
                throw GatewayError(.badRequest, "the stretch has too many readings", next: "ask for a shorter one")
            }
            for piece in page {
                summary.add(piece)
                guard piece.reading.flow != nil, let energy = summary.energy else { continue }
                samples.add(energy.time, wattHours: energy.wattHours, seconds: energy.seconds)
            }
        }
        budget = left
        return samples
    }
}

extension RecordingService {
    /// Makes a recording of a past period from this host's readings.
    ///
    /// - Throws: `refused` without such readings, or if a recording begins at the same moment.
    package func record(
        _ span: Range<WallTime>, of meter: MeterID, name: String?, from series: SeriesService
    ) async throws -> RecordingEntry {
        let summary = try await series.summary(of: meter, in: span, host: host, name: name)
        guard let recording = summary.recording() else {
            throw GatewayError(
                .refused, "no readings of \(meter) from \(span.lowerBound) to \(span.upperBound) are stored here",
                next: "run this on the host that measured them")
        }
        return try await keep(recording)
    }
}

extension StretchSummary {
    fileprivate mutating func add(_ piece: StoredPiece) {
        switch piece {
        case .reading(let sample): add(sample.time, sample.reading)
        case .bucket(let bucket, let tier):
            add(
                bucket.start, length: tier.rawValue, means: bucket.means, minima: bucket.minima, maxima: bucket.maxima,
                count: bucket.readingCount)
        }
    }
}

extension Series {
    /// Skips a point without values: the time of the next point then shows the gap.
    fileprivate func add(_ point: Int, to summary: inout StretchSummary) {
        var (means, minima, maxima) = (Reading(), Reading(), Reading())
        for column in columns {
            guard let mean = column.means[point] else { continue }
            means[column.quantity] = mean
            minima[column.quantity] = column.minima[point]
            maxima[column.quantity] = column.maxima[point]
        }
        guard !means.known.isEmpty else { return }
        summary.add(
            times[point], length: max(1, width.milliseconds), means: means, minima: minima, maxima: maxima, count: nil)
    }
}
