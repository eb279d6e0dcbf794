import Glibc
import LinuxIO
import SimulatedProgram
import Synchronization

/// Runs seeds of the program itself, and says what they covered. Every tenth is run twice and has to be the same.
final class Campaign: Sendable {
    private struct State {
        var coverage = ProgramCoverage()
        var simulatedSeconds = 0.0
        var events = 0
        var seeds = 0
        var failing: [UInt64] = []
        /// Of all histories, in whatever order they ended: the same seeds have the same one in each process.
        var digest: UInt64 = 0
        var next: UInt64
    }

    private let options: Options
    private let state: Mutex<State>

    /// After so many failures there is nothing more to learn.
    private static let failuresMax = 10
    /// One seed in so many is run twice.
    private static let repeatedOnceIn: UInt64 = 10

    init(_ options: Options) {
        self.options = options
        state = Mutex(State(next: options.first))
    }

    var failing: [UInt64] { state.withLock { $0.failing.sorted() } }
    var missing: [ProgramCoverage.Item] { state.withLock { $0.coverage.missing } }

    /// All seeds, each on one thread of its own: SQLite's calls are waited for there.
    func run() async {
        await Self.onThreads(options.jobs) { [self] in
            while let seed = takeSeed() { run(seed) }
        }
    }

    /// Runs `body` on so many threads at a time, and returns once all are done.
    static func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await withCheckedContinuation { end in
                        BackgroundThread.run {
                            body()
                            end.resume()
                        }
                    }
                }
            }
        }
    }

    private func takeSeed() -> UInt64? {
        state.withLock { state in
            guard state.next < options.first + options.count, state.failing.count < Self.failuresMax else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func run(_ seed: UInt64) {
        do {
            let report = try ProgramSimulator.run(seed: seed, bug: options.bug, traces: options.traces)
            for line in report.trace { print(line) }
            state.withLock { state in
                state.coverage += report.coverage
                state.simulatedSeconds += report.simulatedSeconds
                state.events += report.events
                state.seeds += 1
                state.digest ^= report.digest &* (2 &* seed &+ 1)
            }
            if let violation = report.violation { fail(seed, "\(report.policy): \(violation)") }
            guard seed % Self.repeatedOnceIn == 0 else { return }
            let again = try ProgramSimulator.run(seed: seed, bug: options.bug)
            if again.digest != report.digest || again.events != report.events {
                fail(seed, "the second run of the same seed had another history")
            }
        } catch {
            fail(seed, "a store could not be opened: \(error)")
        }
    }

    private func fail(_ seed: UInt64, _ why: String) {
        state.withLock { $0.failing.append(seed) }
        print("seed \(seed), \(why)")
        // Seen at once, also through a pipe.
        fflush(nil)
    }

    func summarise(after elapsed: Duration) {
        let state = state.withLock { $0 }
        let seconds = max(elapsed.seconds, 0.001)
        print("\(state.seeds) seeds in \(tenths(seconds)) s: \(tenths(Double(state.seeds) / seconds)) seeds/s")
        print("\(tenths(state.simulatedSeconds / 3600)) simulated hours, \(state.events) events")
        print("histories: \(String(state.digest, radix: 16))")
        print(ProgramCoverage.Item.allCases.map { "\($0) \(state.coverage[$0])" }.joined(separator: ", "))
    }
}

func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
