import Glibc
import SimulatedProgram

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
    print(Options.usage)
    exit(64)
}
let start = ContinuousClock.now
if options.huntsBugs {
    let missed = await BugHunt.run(jobs: options.jobs)
    print("planted bugs: \(ProgramBug.allCases.count) in \(tenths((ContinuousClock.now - start).seconds)) s")
    guard missed.isEmpty else {
        print("FAILED: not found: \(missed.map(\.rawValue).joined(separator: ", "))")
        exit(1)
    }
} else {
    let campaign = Campaign(options)
    await campaign.run()
    campaign.summarise(after: ContinuousClock.now - start)
    if let first = campaign.failing.first {
        let seeds = campaign.failing.map { "\($0)" }.joined(separator: ", ")
        let bug = options.bug.map { " --bug \($0.rawValue)" } ?? ""
        print("FAILED: seeds \(seeds); again: .build/debug/ProgramSimulation --seed \(first)\(bug) --trace")
        exit(1)
    }
    // One seed proves nothing about faults; fifty must have met each.
    if options.count >= 50, options.bug == nil, !campaign.missing.isEmpty {
        let items = campaign.missing.map { "\($0)" }.joined(separator: ", ")
        print("FAILED: never happened, so nothing is proved about it: \(items)")
        exit(2)
    }
}
