import Domain
import SimulatedCloud
import Testing

struct LinearizabilityCheckerTests {
    private let checker = LinearizabilityChecker(terms: .standard)

    @Test func verdict_isThatOfBruteForce_onSmallHistories() {
        var verdicts = (linearizable: 0, refused: 0)
        for seed in 0..<600 as Range<UInt64> {
            let fault: GeneratedHistory.Fault = seed % 3 == 0 ? .none : .changedAnswer
            let history = GeneratedHistory(
                seed: seed, operations: 6, clients: 3, fault: fault, unknownPermille: 250, pace: 0...4000)

            let verdict = checker.check(history.operations)

            let expected = BruteForce(history.operations).isLinearizable
            #expect((verdict == .linearizable) == expected, "seed \(seed): \(history.operations)")
            #expect(fault != .none || expected, "seed \(seed)")
            if expected { verdicts.linearizable += 1 } else { verdicts.refused += 1 }
        }
        #expect(verdicts.linearizable > 100 && verdicts.refused > 100, "\(verdicts)")
    }

    @Test func everyHistory_ofAGoodAuthority_isLinearizable() {
        for seed in 0..<40 as Range<UInt64> {
            let history = GeneratedHistory(seed: seed, operations: 300, clients: 5, unknownPermille: 50)
            let verdict = checker.check(history.operations)
            #expect(verdict == .linearizable, "seed \(seed): \(verdict)")
        }
    }

    @Test func skippedCompare_isFound_inThreeRuns() {
        let verdicts = (0..<3 as Range<UInt64>).map {
            checker.check(GeneratedHistory(seed: $0, operations: 400, clients: 6, fault: .skipsCompare).operations)
        }
        #expect(verdicts.contains { $0.isRefusal }, "\(verdicts)")
    }

    @Test func tenThousandOperations_areDecided() {
        let history = GeneratedHistory(seed: 1, operations: 10_000, clients: 8, unknownPermille: 20)
        let verdict = checker.check(history.operations)
        #expect(verdict == .linearizable)
    }

    @Test func lateFault_isFound_inALongHistory() {
        var operations = GeneratedHistory(seed: 2, operations: 3000, clients: 8, unknownPermille: 20).operations
        let end = (operations.map(\.returnedAt).max() ?? .origin) + .seconds(1)
        operations.append(
            LeaseOperation(
                meter: operations[0].meter, request: .read, outcome: .seen(.of(99, 1)), calledAt: end,
                returnedAt: end + .seconds(1)))
        let verdict = checker.check(operations)
        #expect(verdict.isRefusal, "\(verdict)")
    }

    @Test func search_givesUp_ratherThanNeverEnd() {
        let history = GeneratedHistory(seed: 3, operations: 200, clients: 5)
        let verdict = LinearizabilityChecker(terms: .standard, configurationsMax: 10).check(history.operations)
        #expect(verdict == .undecided(meter: "AABBCCDDEEFF"))
    }

    @Test func emptyHistory_isLinearizable() {
        #expect(checker.check([]) == .linearizable)
    }
}

/// Tries every order of every subset of the calls without answer. No memory, no pruning: the register is all it shares
/// with the checker.
private struct BruteForce {
    private let operations: [LeaseOperation]

    init(_ operations: [LeaseOperation]) { self.operations = operations }

    var isLinearizable: Bool { extend(LeaseRegister(), open: Array(operations.indices)) }

    private func extend(_ register: LeaseRegister, open: [Int]) -> Bool {
        if open.allSatisfy({ operations[$0].outcome == .unknown }) { return true }
        for index in open where mayComeNext(index, of: open) {
            guard let next = register.after(operations[index], terms: .standard, slack: .zero) else { continue }
            if extend(next, open: open.filter { $0 != index }) { return true }
        }
        return false
    }

    private func mayComeNext(_ index: Int, of open: [Int]) -> Bool {
        open.allSatisfy { other in
            operations[other].outcome == .unknown || operations[other].returnedAt >= operations[index].calledAt
        }
    }
}
