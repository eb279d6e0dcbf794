/// The energy of a stretch, reading by reading: what a power counter of the Firefox Profiler has.
///
/// A sample's energy flowed since the sample before. Where that is unknown, a sample without energy begins a new run: at
/// the first reading, and at the first one behind a gap. Nothing lies in a gap. The sum is the stretch's energy.
package struct EnergySamples: Sendable {
    package struct Sample: Hashable, Sendable {
        /// Milliseconds since 1970; above the time of the sample before.
        package var time: Int64
        /// Picowatt-hours, with the sign of the current.
        package var energy: Int64
        package var beginsRun: Bool
    }

    package private(set) var samples: [Sample] = []
    /// Neighbours that are no further apart than this many milliseconds were added up; 0 where none were.
    package private(set) var spacing: Int64 = 0
    private let samplesMax: Int
    private var total: Int64 = 0
    private var seconds = 0.0

    /// - Parameter samplesMax: beyond this, neighbours in a run are added up. Runs stay apart, of which a day has at most
    ///   8,640: a gap takes 10 s.
    package init(samplesMax: Int) { self.samplesMax = samplesMax }

    /// Takes what a stretch comes to, after each reading that has a power.
    ///
    /// - Parameters:
    ///   - time: of the reading, in milliseconds since 1970.
    ///   - wattHours: the energy up to then.
    ///   - seconds: the time over which that was integrated, which leaves out gaps.
    package mutating func add(_ time: Int64, wattHours: Double, seconds: Double) {
        let exact = (wattHours * 1e12).rounded()
        // Beyond nine megawatt-hours there is no such number.
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
