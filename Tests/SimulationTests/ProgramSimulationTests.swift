import SimulatedProgram
import Testing

/// A few whole runs of the program; `ProgramSimulation --seeds 50` makes the many.
struct ProgramSimulationTests {
    @Test func everyPromise_isKept_inTheFirstRuns() throws {
        var coverage = ProgramCoverage()
        for seed in 1...4 as ClosedRange<UInt64> {
            let report = try ProgramSimulator.run(seed: seed)
            #expect(report.violation == nil, "seed \(seed): \(report.violation ?? "")")
            coverage += report.coverage
        }
        // A simulation in which nothing happens keeps every promise.
        for item in [.grant, .renewal, .setting, .hostCrash, .cloudCrash, .converged] as [ProgramCoverage.Item] {
            #expect(coverage[item] > 0, "\(item) never happened")
        }
    }

    @Test func seed_hasOneHistory() throws {
        let first = try ProgramSimulator.run(seed: 7, traces: true)
        let second = try ProgramSimulator.run(seed: 7, traces: true)
        #expect(first.trace.count > 500)
        #expect(first.trace == second.trace)
        #expect(first.violation == second.violation)
    }

    @Test func trace_changesNothing() throws {
        let silent = try ProgramSimulator.run(seed: 9)
        let traced = try ProgramSimulator.run(seed: 9, traces: true)
        #expect(silent.digest == traced.digest)
        #expect(silent.events == traced.events)
        #expect(silent.trace.isEmpty)
    }

    @Test(arguments: [ProgramBug.expiresEarly, .ignoresHardStop])
    func plantedBug_isFound(bug: ProgramBug) throws {
        // Which seed it is changes with every change of the program.
        #expect(
            try (1...48 as ClosedRange<UInt64>).contains {
                try ProgramSimulator.run(seed: $0, bug: bug).violation != nil
            })
    }
}
