import Glibc
import SimulatedCloud

/// What the command line asks for; nil: it cannot be read.
struct Options {
    var first: UInt64 = 1
    var count: UInt64 = 1
    var traces = false
    var bug: PlantedBug?

    static let usage = """
        usage: Simulation --seeds N [--from N] [--bug NAME]   run N seeds, from the first on
               Simulation --seed N [--trace] [--bug NAME]     run one seed, and print what happened
        """

    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--trace": traces = true
            case "--bug":
                guard let bug = rest.popFirst().flatMap(PlantedBug.init(rawValue:)) else { return nil }
                self.bug = bug
            case "--seed", "--from", "--seeds":
                guard let number = rest.popFirst().flatMap({ UInt64($0) }) else { return nil }
                if option == "--seeds" { count = number } else { first = number }
            default: return nil
            }
        }
    }
}

/// Runs seeds one after the other and says what they covered.
struct Campaign {
    var coverage = Coverage()
    var simulatedSeconds = 0.0
    var events = 0
    var seeds = 0
    var failures: [(seed: UInt64, violation: String)] = []

    mutating func run(_ options: Options) {
        for seed in options.first..<(options.first + options.count) {
            let report = Simulator.run(seed: seed, bug: options.bug, traces: options.traces)
            for line in report.trace { print(line) }
            coverage += report.coverage
            simulatedSeconds += report.simulatedSeconds
            events += report.events
            seeds += 1
            guard let violation = report.violation else { continue }
            failures.append((seed, violation))
            print("seed \(seed), \(report.policy): \(violation)")
            print("again: Simulation --seed \(seed) --trace")
            // Seen at once, also through a pipe.
            fflush(nil)
            if failures.count == 10 { return }
        }
    }

    func summarise(after elapsed: Duration) {
        let seconds = max(Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18, 0.001)
        let hours = simulatedSeconds / 3600
        print("\(seeds) seeds in \(tenths(seconds)) s: \(tenths(Double(seeds) / seconds)) seeds/s")
        print("\(tenths(hours)) simulated hours, \(Int(simulatedSeconds / seconds)) times real time, \(events) events")
        for item in Coverage.Item.allCases { print("  \(item.rawValue): \(coverage[item])") }
    }

    private func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }
}

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
    print(Options.usage)
    exit(64)
}
let clock = ContinuousClock()
var campaign = Campaign()
let elapsed = clock.measure { campaign.run(options) }
campaign.summarise(after: elapsed)
if !campaign.failures.isEmpty {
    print("failing seeds: \(campaign.failures.map(\.seed))")
    exit(1)
}
// One seed proves nothing about faults; a thousand must have met each.
if options.count >= 1000, options.bug == nil, !campaign.coverage.missing.isEmpty {
    print("never happened, so nothing is proved: \(campaign.coverage.missing.map(\.rawValue))")
    exit(2)
}
