import Domain
import SimulatedCloud

/// Time, chance and the log of one run, all of them on its one thread.
///
/// Unchecked, because the program's parts that call it are `Sendable`: they run on that thread alone (`ProgramThread`).
final class World: @unchecked Sendable {
    let thread = ProgramThread()
    private(set) var now: TrueTime = 0
    var rng: SimulationRNG
    var judge: Judge
    var coverage = ProgramCoverage()
    /// Everything that happened, where it was asked for.
    private(set) var lines: [String] = []
    /// Of all lines, whether they are kept or not: two runs with the same one had the same history.
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var events = 0
    /// By meter, its lease after the last decision.
    var decisions: [String: (token: FencingToken, holder: SessionID?)] = [:]
    /// By request, what it was granted.
    var grants: [RequestID: FencingToken] = [:]
    private let keepsLines: Bool
    /// No lease may be lost.
    let isCalm: Bool
    private var queue = EventQueue<() -> Void>()
    private var lastID: UInt64 = 0

    init(rng: SimulationRNG, _ scenario: ProgramScenario, keepsLines: Bool) {
        self.rng = rng
        self.keepsLines = keepsLines
        isCalm = scenario.isCalm
        judge = Judge(meters: scenario.meters)
    }

    /// Runs `body` at a time, or now where that is over.
    func at(_ time: TrueTime, _ body: @escaping () -> Void) { queue.add(body, at: max(time, now)) }

    /// Lets what is next happen, with all that follows from it at once.
    ///
    /// - Returns: false where nothing is left to happen.
    func step() -> Bool {
        guard let next = queue.next() else { return false }
        now = next.time
        events += 1
        next.event()
        thread.drain()
        return true
    }

    /// Carries out an errand of the simulation's own. No time passes in it.
    ///
    /// - Returns: nil where it waits for time to pass.
    func errand<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Result<Value, any Error>? {
        let answer = Answer<Value>()
        Task(executorPreference: thread) {
            do { answer.result = .success(try await body()) } catch { answer.result = .failure(error) }
        }
        thread.drain()
        return answer.result
    }

    private final class Answer<Value: Sendable>: @unchecked Sendable {
        var result: Result<Value, any Error>?
    }

    /// Around a time: from nothing to its double.
    func some(_ time: TrueTime) -> TrueTime { now + TrueTime(rng.number(below: Int(time) * 2)) + 1 }

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// The present moment, as a clock that is right and nobody has.
    var moment: MonotonicTime { MonotonicTime(sinceOrigin: .microseconds(now)) }

    func note(_ line: String) {
        let text = "\(Double(now) / 1_000_000) \(line)"
        for byte in text.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if keepsLines { lines.append(text) }
    }
}
