import SimulatedCloud
import Testing

/// A few whole runs; `Simulation --seeds 1000` makes the many.
struct SimulationTests {
    @Test func everyPromise_isKept_inTheFirstRuns() {
        var coverage = Coverage()
        for seed in 1...12 as ClosedRange<UInt64> {
            let report = Simulator.run(seed: seed)
            #expect(report.violation == nil, "seed \(seed): \(report.violation ?? "")")
            coverage += report.coverage
        }
        // A simulation in which nothing happens keeps every promise.
        for item in [.permit, .renewed, .pageApplied, .hostCrash, .partition, .converged] as [Coverage.Item] {
            #expect(coverage[item] > 0, "\(item) never happened")
        }
    }

    @Test func seed_hasOneHistory() {
        let first = Simulator.run(seed: 7, traces: true)
        let second = Simulator.run(seed: 7, traces: true)
        #expect(first.trace.count > 500)
        #expect(first.trace == second.trace)
        #expect(first.violation == second.violation)
    }

    @Test func trace_changesNothing() {
        let silent = Simulator.run(seed: 9)
        let traced = Simulator.run(seed: 9, traces: true)
        #expect(silent.events == traced.events)
        #expect(silent.trace.isEmpty)
    }
}
