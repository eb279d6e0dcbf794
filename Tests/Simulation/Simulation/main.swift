import Glibc
import SimulatedCloud

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
    print(Options.usage)
    exit(64)
}
let start = ContinuousClock.now
if options.huntsBugs {
    let missed = await BugHunt.run(jobs: options.jobs)
    print("planted bugs: \(PlantedBug.allCases.count) in \(tenths((ContinuousClock.now - start).seconds)) s")
    guard missed.isEmpty else {
        print("FAILED: not found: \(missed.map(\.rawValue).joined(separator: ", "))")
        exit(1)
    }
} else {
    let campaign = await Campaign.run(options)
    campaign.summarise(after: ContinuousClock.now - start)
    if let first = campaign.failing.first {
        let seeds = campaign.failing.map { "\($0)" }.joined(separator: ", ")
        let bug = options.bug.map { " --bug \($0.rawValue)" } ?? ""
        print("FAILED: seeds \(seeds); again: .build/static/release/Simulation --seed \(first)\(bug) --trace")
        exit(1)
    }
    // One seed proves nothing about faults; a thousand must have met each.
    if options.count >= 1000, options.bug == nil, !campaign.coverage.missing.isEmpty {
        let items = campaign.coverage.missing.map { "\($0)" }.joined(separator: ", ")
        print("FAILED: never happened, so nothing is proved about it: \(items)")
        exit(2)
    }
}
