import Domain
import Testing

/// Whatever is under way, an answer to something else changes nothing but the log (`SyncState.applyAnswer`).
struct SyncLateAnswerTests {
    /// A machine while it waits for this operation.
    private struct Waiting: CustomStringConvertible {
        var operation: SyncOperation
        var machine: SyncMachine
        var now: MonotonicTime

        var description: String { "\(operation)" }
    }

    /// What collects them, one of each kind.
    private struct Collector {
        var found: [String: Waiting] = [:]

        mutating func look(_ bench: SessionBench) {
            guard let operation = bench.operation else { return }
            found[Self.kind(operation)] = Waiting(operation: operation, machine: bench.machine, now: bench.now)
        }

        /// Its case, without what it is about.
        static func kind(_ operation: SyncOperation) -> String {
            Mirror(reflecting: operation).children.first?.label ?? "\(operation)"
        }

        /// Answers as if nothing were new until nothing is under way.
        mutating func settle(_ bench: inout SessionBench) {
            while let operation = bench.operation {
                look(bench)
                bench.answer(operation.emptyAnswer(at: bench.now))
            }
        }
    }

    private static func everyOperation() -> [String: Waiting] {
        var all = Collector()
        // Through whole runs, with a zone that is missing first and a store that is new.
        var first = SessionBench()
        first.send(.started)
        all.look(first)
        first.fail(.zoneNotFound)
        all.look(first)
        first.answer(.zoneCreated)
        first.answer(.accountChecked(.home(), .exact(at: first.now)))
        first.send(.streamOpened)
        first.answer(.progressRead(SyncProgress()))
        all.look(first)
        first.answer(.adopted)
        all.settle(&first)
        // With records to tell, of which one is refused for its stamp.
        var second = SessionBench()
        second.begin()
        let batch = OutboxBatch.records(1...2)
        second.answer(.batchRead(batch))
        all.look(second)
        second.answer(.pushed(.taking(batch, refusing: ["r2": .clockSkew]), .exact(at: second.now)))
        all.look(second)
        second.answer(.settled(MergeOutcome()))
        all.look(second)
        all.settle(&second)
        // With a token that the cloud has forgotten.
        var third = SessionBench()
        third.begin()
        third.answer(.batchRead(nil))
        third.fail(.changeTokenExpired(epoch: "e1"))
        all.look(third)
        all.settle(&third)
        // With records held back for lack of room, which are tried again.
        var fourth = SessionBench()
        fourth.begin()
        fourth.answer(.batchRead(batch))
        fourth.answer(.pushed(.taking(batch, refusing: ["r1": .quotaExceeded]), .exact(at: fourth.now)))
        var progress = SyncProgress(epoch: "e1", zone: "zone home", zoneName: "home", tokens: .all("t0"))
        progress.heldBack = 1
        for _ in 0..<200 where all.found["retryHeldBack"] == nil {
            if let operation = fourth.operation {
                let isRead = operation == .readProgress
                fourth.answer(isRead ? .progressRead(progress) : operation.emptyAnswer(at: fourth.now))
            } else {
                fourth.advance(by: .minute)
                if fourth.operation == nil { fourth.send(.triggered(.asked)) }
            }
            all.look(fourth)
        }
        return all.found
    }

    @Test func answerThatNobodyWaitsFor_changesNothing() {
        let all = Self.everyOperation()
        #expect(
            Set(all.keys) == [
                "checkAccount", "createZone", "readProgress", "adopt", "correct", "readBatch", "push", "settle",
                "restamp", "beginRefetch", "fetch", "apply", "retryHeldBack", "cleanUp",
            ])
        for (kind, waiting) in all {
            for (otherKind, other) in all where otherKind != kind {
                for answer in Self.answers(to: other.operation, at: waiting.now) {
                    var machine = waiting.machine
                    let effects = machine.handle(answer, at: waiting.now, random: 7)

                    #expect(effects.allSatisfy { if case .log = $0 { true } else { false } }, "\(kind), \(answer)")
                    #expect(machine.state == waiting.machine.state, "\(kind), \(answer)")
                }
            }
        }
    }

    /// Also ones that bring something.
    private static func answers(to operation: SyncOperation, at now: MonotonicTime) -> [SyncInput] {
        let changed = MergeOutcome(changed: [RecordKey(type: .deviceSettings, name: "m")])
        let late: [SyncInput] =
            switch operation {
            case .apply: [.applied(changed)]
            case .settle: [.settled(changed)]
            case .fetch(let type, _, _): [.pageFetched(.page(type, count: 3, token: "t9", moreComing: true))]
            case .readBatch: [.batchRead(.records(1...3))]
            case .retryHeldBack: [.heldBackRetried(5)]
            case .push: [.pushed(.taking(.records(1...2), refusing: ["r1": .clockSkew]), .off(by: .minute, at: now))]
            case .checkAccount: [.accountChecked(.home(epoch: "e9"), .off(by: .minute, at: now))]
            default: []
            }
        return [operation.emptyAnswer(at: now)] + late
    }

    /// Where nothing is under way, nor has been.
    @Test func answerToNothing_changesNothing() {
        for bench in [SessionBench(), Self.rested] {
            for other in Self.everyOperation().values {
                for answer in Self.answers(to: other.operation, at: bench.now) {
                    var machine = bench.machine
                    _ = machine.handle(answer, at: bench.now, random: 7)
                    #expect(machine.state == bench.state, "\(answer)")
                }
            }
        }
    }

    private static var rested: SessionBench {
        var bench = SessionBench()
        bench.beginAndRest()
        return bench
    }
}
