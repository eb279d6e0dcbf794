import Glibc
import SimulatedCloud

/// Looks whether each planted bug is found: a simulation that breaks no promise with a rule taken away proves nothing
/// about that rule.
enum BugHunt {
    /// A bug that so many seeds do not show counts as not found.
    private static let seedsMax: UInt64 = 400

    /// - Returns: the bugs that were not found.
    static func run(jobs: Int) async -> [PlantedBug] {
        await withTaskGroup(of: [PlantedBug].self) { group in
            let bugs = PlantedBug.allCases
            for job in 0..<jobs {
                group.addTask {
                    stride(from: job, to: bugs.count, by: jobs).map { bugs[$0] }.filter { !isFound($0) }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func isFound(_ bug: PlantedBug) -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        for seed in 1...seedsMax {
            guard let violation = Simulator.run(seed: seed, bug: bug).violation else { continue }
            let seconds = tenths((clock.now - start).seconds)
            let line = violation.prefix { $0 != "\n" }.prefix(200)
            print("\(bug.rawValue): found by seed \(seed), \(seconds) s: \(line)")
            fflush(nil)
            return true
        }
        print("\(bug.rawValue): not found by \(seedsMax) seeds")
        return false
    }
}
