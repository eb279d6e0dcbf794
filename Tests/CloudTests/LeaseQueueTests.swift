import CoreTestKit
import Domain
import MeterTestKit
import Testing

@testable import Cloud

/// The rules of lease queues, and who lives.
struct LeaseQueueTests {
    private let start = MonotonicTime.origin + .seconds(1000)

    private func waiter(_ number: UInt64, copy: UInt64 = 1, token: UInt64 = 0) -> Waiter {
        Waiter(
            host: .numbered(number), name: "Host \(number)", copy: .numbered(copy), token: FencingToken(rawValue: token)
        )
    }

    private func anyWaiter(_ rng: inout SeededRNG) -> Waiter {
        waiter(UInt64(rng.below(6)), copy: UInt64(rng.below(3)), token: UInt64(rng.below(3)))
    }

    private func anyChange(_ queue: [Waiter], _ rng: inout SeededRNG) -> QueueEdit {
        switch rng.below(5) {
        case 0: .join(anyWaiter(&rng))
        case 1: .joinAtHead(anyWaiter(&rng))
        case 2: .leave(.numbered(UInt64(rng.below(6))))
        case 3: .remove(Set(queue.filter { _ in rng.oneIn(3) }), late: rng.oneIn(2) ? queue.first : nil)
        default: .leaveAll(of: .numbered(UInt64(rng.below(3))))
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func hostStandsOnce_andOrderStays_whateverIsDone(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var queue: [Waiter] = []
        for _ in 0..<500 {
            let change = anyChange(queue, &rng)
            let next = change(queue)

            #expect(Set(next.map(\.host)).count == next.count, "seed \(seed): \(change) of \(queue)")
            let (old, new) = (Set(queue.map(\.host)), Set(next.map(\.host)))
            let common = old.intersection(new)
            if case .joinAtHead(let waiter) = change {
                #expect(next.first == waiter, "seed \(seed)")
            } else {
                #expect(
                    queue.map(\.host).filter(common.contains) == next.map(\.host).filter(common.contains),
                    "seed \(seed): \(change) of \(queue)")
            }
            // Of the changes that may be sent again after somebody else's, none does more the second time.
            if case .remove(_, .some) = change {} else { #expect(change(next) == next, "seed \(seed): \(change)") }
            queue = next
        }
    }

    @Test func host_keepsItsPlace_whenItComesToAnotherCopy() {
        let queue = [waiter(1), waiter(2), waiter(3)]

        #expect(QueueEdit.join(waiter(2, copy: 9))(queue) == [waiter(1), waiter(2, copy: 9), waiter(3)])
    }

    @Test func late_leaves_onlyAsTheFirst() {
        let change = QueueEdit.remove([], late: waiter(1))

        #expect(change([waiter(1), waiter(2)]) == [waiter(2)])
        #expect(change([waiter(2), waiter(1)]) == [waiter(2), waiter(1)], "it came again meanwhile")
        #expect(change([waiter(1, copy: 2)]) == [waiter(1, copy: 2)], "it came again to another copy")
    }

    @Test func offer_stands_asLongAsItsHostIsFirst_andListensHere() {
        var queue = LeaseQueue()
        let isNews = queue.update(QueueState(waiters: [waiter(1), waiter(2)], version: 5))
        let turns = [UInt64(2), 1, 1].map { queue.canBeHad(at: start, through: .numbered($0)) }
        let isOldNews = queue.update(QueueState(waiters: [], version: 4))
        let isNextNews = queue.update(QueueState(waiters: [waiter(1), waiter(3)], version: 6))

        #expect(turns == [.none, .offer(waiter(1)), .none], "it listens to another copy; its offer; once")
        #expect(isNews && !isOldNews && isNextNews, "what is older changes nothing")
        #expect(queue.offeredUntil == start + .seconds(10))
        #expect(queue.late(at: start + .seconds(9)) == nil)
        #expect(queue.reserved(at: start + .seconds(9)) == .numbered(1))
        #expect(queue.late(at: start + .seconds(10)) == waiter(1))
        #expect(queue.reserved(at: start + .seconds(10)) == .numbered(3))
        let isShown = queue.update(QueueState(waiters: [waiter(1, copy: 2), waiter(3)], version: 7))
        #expect(!isShown, "it looks as it was")
        #expect(queue.offeredUntil == nil)
    }

    @Test(arguments: UInt64(0)..<20)
    func lines_areTheNewest_inWhateverOrderTheyCome(seed: UInt64) {
        let place = MeterPlace(zone: "home", meter: "m")
        let other = MeterPlace(zone: "home", meter: "n")
        // What is told of one queue one by one, and read of all, in every order.
        let told = [
            QueueState(waiters: [waiter(1)], version: 1), QueueState(waiters: [], version: 2),
            QueueState(waiters: [waiter(2)], version: 4), QueueState(waiters: [], version: 6),
        ]
        let first = QueueSnapshot(queues: [place: told[0], other: told[0]], version: 1)
        let last = QueueSnapshot(queues: [other: told[0]], version: 7)
        var rng = SeededRNG(seed: seed)
        for _ in 0..<50 {
            let queues = LeaseQueues()
            for step in Array(0..<6).shuffled(using: &rng) {
                switch step {
                case 4: _ = queues.update(first)
                case 5: _ = queues.update(last)
                default: _ = queues.update(told[step], at: place)
                }
            }
            #expect(queues.places(in: "home") == [other], "seed \(seed)")
            #expect(queues.names(at: other) == ["Host 1"])
        }
    }

    // MARK: Who lives

    @Test func copy_isSilent_afterItsTime_andNotBefore() {
        var detector = FailureDetector()

        let found = [0, 5, 10, 15, 20].map { detector.look(at: [.numbered(1): 7], now: start + .seconds($0)) }

        #expect(found == [[], [], [], [], [FailureDetector.Silence(copy: .numbered(1), mark: 7)]])
    }

    @Test func copy_lives_asLongAsItsMarkChanges() {
        var detector = FailureDetector()

        // Every third look sees a new one.
        let found = (0..<100).map {
            detector.look(at: [.numbered(1): UInt64($0 / 3 + 1)], now: start + .seconds(5 * $0))
        }

        #expect(found.allSatisfy { $0.isEmpty })
    }

    @Test func silence_countsAnew_afterTheStoreAnsweredNobody() {
        var detector = FailureDetector()
        let marks: [ReplicaID: UInt64] = [.numbered(1): 7, .numbered(2): 0]

        // Nobody could give a sign for an hour.
        let found = [0, 3600, 3605, 3610, 3615, 3620].map { detector.look(at: marks, now: start + .seconds($0)) }

        #expect(found.dropLast().allSatisfy { $0.isEmpty })
        #expect(found.last?.map(\.copy) == [.numbered(1), .numbered(2)])
    }
}
