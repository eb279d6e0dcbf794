import Glibc
import SimulatedProgram
import Synchronization

/// Looks whether each bug that is put in before or behind the program's parts is found.
enum BugHunt {
    /// A bug that so many seeds do not show counts as not found.
    private static let seedsMax: UInt64 = 300

    /// - Returns: the bugs that were not found.
    static func run(jobs: Int) async -> [ProgramBug] {
        let left = Mutex(ProgramBug.allCases)
        let missed = Mutex<[ProgramBug]>([])
        await Campaign.onThreads(jobs) {
            while let bug = left.withLock({ $0.popLast() }) {
                if !isFound(bug) { missed.withLock { $0.append(bug) } }
            }
        }
        return missed.withLock { $0 }
    }

    private static func isFound(_ bug: ProgramBug) -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        for seed in 1...seedsMax {
            guard let violation = try? ProgramSimulator.run(seed: seed, bug: bug).violation else { continue }
            let line = violation.prefix { $0 != "\n" }.prefix(200)
            print("\(bug.rawValue): found by seed \(seed), \(tenths((clock.now - start).seconds)) s: \(line)")
            fflush(nil)
            return true
        }
        print("\(bug.rawValue): not found by \(seedsMax) seeds")
        return false
    }
}
