import Glibc
import SimulatedCloud

/// Runs seeds and says what they covered.
struct Campaign: Sendable {
    private(set) var coverage = Coverage()
    private var simulatedSeconds = 0.0
    private var events = 0
    private var seeds = 0
    private(set) var failing: [UInt64] = []

    /// After so many failures in one job there is nothing more to learn.
    private static let failuresMax = 10

    init() {}

    /// All seeds of `options`, shared out among its jobs.
    static func run(_ options: Options) async -> Campaign {
        await withTaskGroup(of: Campaign.self) { group in
            for job in 0..<options.jobs {
                group.addTask {
                    var part = Campaign()
                    part.run(options, job: UInt64(job))
                    return part
                }
            }
            return await group.reduce(into: Campaign()) { $0.add($1) }
        }
    }

    private mutating func run(_ options: Options, job: UInt64) {
        let end = options.first + options.count
        for seed in stride(from: options.first + job, to: end, by: options.jobs) {
            let report = Simulator.run(seed: seed, bug: options.bug, traces: options.traces)
            for line in report.trace { print(line) }
            coverage += report.coverage
            simulatedSeconds += report.simulatedSeconds
            events += report.events
            seeds += 1
            guard let violation = report.violation else { continue }
            failing.append(seed)
            print("seed \(seed), \(report.policy): \(violation)")
            // Seen at once, also through a pipe.
            fflush(nil)
            if failing.count == Self.failuresMax { return }
        }
    }

    private mutating func add(_ other: Campaign) {
        coverage += other.coverage
        simulatedSeconds += other.simulatedSeconds
        events += other.events
        seeds += other.seeds
        failing = (failing + other.failing).sorted()
    }

    func summarise(after elapsed: Duration) {
        let seconds = max(elapsed.seconds, 0.001)
        print("\(seeds) seeds in \(tenths(seconds)) s: \(tenths(Double(seeds) / seconds)) seeds/s")
        let times = Int(simulatedSeconds / seconds)
        print("\(tenths(simulatedSeconds / 3600)) simulated hours, \(times) times real time, \(events) events")
        print(Coverage.Item.allCases.map { "\($0) \(coverage[$0])" }.joined(separator: ", "))
    }
}

func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
