/// Energy of a period, for a power counter of the Firefox Profiler.
///
/// Each sample contains the energy since the previous one. After each gap, and at the start, a sample without energy
/// begins a run of samples.
package struct EnergySamples: Sendable {
    package struct Sample: Hashable, Sendable {
        /// Milliseconds since 1970, strictly ascending.
        package var time: Int64
        /// Picowatt-hours, with the sign of the current.
        package var energy: Int64
        package var beginsRun: Bool
    }

    package private(set) var samples: [Sample] = []
    /// Maximum distance of merged samples in milliseconds; 0 if none were merged.
    package private(set) var spacing: Int64 = 0
    private let samplesMax: Int
    private var total: Int64 = 0
    private var seconds = 0.0

    /// - Parameter samplesMax: maximum number of samples; beyond it, adjacent samples are merged, but not across a gap.
    ///   A day has at most 8,640 runs of samples, because a gap takes 10 s.
    package init(samplesMax: Int) { self.samplesMax = samplesMax }

    /// Adds the totals after a reading that has a power.
    ///
    /// - Parameters:
    ///   - time: milliseconds since 1970.
    ///   - seconds: integrated duration, without gaps.
    package mutating func add(_ time: Int64, wattHours: Double, seconds: Double) {
        let exact = (wattHours * 1e12).rounded()
        // Above nine megawatt-hours, picowatt-hours exceed Int64.
        guard let total = Int64(exactly: exact), seconds.isFinite else { return }
        let measured = Int64(((seconds - self.seconds) * 1000).rounded())
        if samples.last.map({ time - measured > $0.time }) ?? true {
            append(Sample(time: time - measured, energy: 0, beginsRun: true))
        }
        if measured > 0 { append(Sample(time: time, energy: total - self.total, beginsRun: false)) }
        (self.total, self.seconds) = (total, seconds)
    }

    private mutating func append(_ sample: Sample) {
        guard let last = samples.indices.last else { return samples.append(sample) }
        let isJoined =
            !sample.beginsRun && !samples[last].beginsRun && sample.time - samples[last - 1].time <= spacing
        if isJoined {
            samples[last].time = sample.time
            samples[last].energy += sample.energy
            return
        }
        samples.append(sample)
        guard samples.count > samplesMax else { return }
        spacing = max(1, spacing * 2)
        let all = samples
        samples = []
        for sample in all { append(sample) }
    }
}
