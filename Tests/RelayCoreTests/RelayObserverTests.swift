import CoreTestKit
import Domain
import Testing

/// What an observer shows of what comes.
struct RelayObserverTests {
    @Test func newToken_isShown_andTheOldOneNoMore() {
        var observer = RelayObserver()
        let actions = [
            observer.received(.of(token: 5, number: 1)), observer.received(.of(token: 5, number: 2)),
            observer.received(.of(token: 6, number: 1)), observer.received(.of(token: 5, number: 3)),
            observer.received(.of(token: 6, number: 2)),
        ]

        #expect(actions == [.show(missed: 0), .show(missed: 0), .show(missed: 0), .drop, .show(missed: 0)])
        #expect(observer.refusedCount == 1)
    }

    @Test func repeatedOrLateBatch_isDropped() {
        var observer = RelayObserver()
        _ = observer.received(.of(token: 5, number: 4))
        #expect(observer.received(.of(token: 5, number: 4)) == .drop)
        #expect(observer.received(.of(token: 5, number: 3)) == .drop)
        #expect(observer.received(.of(token: 5, number: 5)) == .show(missed: 0))
    }

    @Test func losses_areShownWithTheNextReadings_once() {
        var observer = RelayObserver()
        _ = observer.received(.of(token: 5, number: 1))
        observer.lost(3)
        #expect(observer.received(.of(token: 5, number: 2, missed: 4)) == .show(missed: 7))
        #expect(observer.received(.of(token: 5, number: 3)) == .show(missed: 0))
    }

    @Test func newEpoch_beginsAnew_andAnEpochThatWasLeftDoesNotComeBack() {
        var observer = RelayObserver()
        _ = observer.received(.of(token: 500, number: 9, epoch: "before"))
        #expect(observer.received(.of(token: 2, number: 1, epoch: "after")) == .show(missed: 0))
        #expect(observer.received(.of(token: 501, number: 10, epoch: "before")) == .drop)
        #expect(observer.received(.of(token: 2, number: 2, epoch: "after")) == .show(missed: 0))
    }

    /// What is dropped takes no loss with it.
    @Test func losses_waitForABatchThatIsShown() {
        var observer = RelayObserver()
        #expect(observer.received(.of(token: 5, number: 7)) == .show(missed: 0))
        observer.lost(3)
        #expect(observer.received(.of(token: 5, number: 7, missed: 9)) == .drop)
        #expect(observer.received(.of(token: 4, number: 8, missed: 9)) == .drop)
        observer.lost(2)
        #expect(observer.received(.of(token: 6, number: 1, missed: 1)) == .show(missed: 6))
        #expect(observer.received(.of(token: 6, number: 2)) == .show(missed: 0))
        #expect(observer.refusedCount == 1)
    }

    /// Eight epochs that were left are known again; of each of them nothing is shown, whatever its token.
    @Test func epochsThatWereLeft_areKnown_theLastEight() {
        var fence = RelayFence()
        for epoch in 0...9 {
            #expect(fence.judge(FencingToken(rawValue: 5), in: "\(epoch)") == .newer)
            #expect(fence.judge(FencingToken(rawValue: 5), in: "\(epoch)") == .current)
            #expect(fence.judge(FencingToken(rawValue: 6), in: "\(epoch)") == .newer)
            #expect(fence.judge(FencingToken(rawValue: 5), in: "\(epoch)") == .older)
        }
        for epoch in 1...8 { #expect(fence.judge(FencingToken(rawValue: 99), in: "\(epoch)") == .older) }
        #expect(fence.judge(FencingToken(rawValue: 6), in: "9") == .current)
        #expect(fence.judge(FencingToken(rawValue: 1), in: "0") == .newer)
        #expect(fence.judge(FencingToken(rawValue: 99), in: "9") == .older)
    }

    /// The rule that must never break: no reading of an older token is shown after one of a newer.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func walk_tokensNeverFall(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var observer = RelayObserver()
        var (shown, numbers) = (UInt64(0), [UInt64: UInt64]())
        for _ in 0..<10_000 {
            let token = UInt64.random(in: 1...40, using: &rng)
            let number = UInt64.random(in: 1...20, using: &rng)
            guard case .show = observer.received(.of(token: token, number: number)) else { continue }
            #expect(token >= shown, "seed \(seed)")
            #expect(number > numbers[token] ?? 0, "seed \(seed)")
            shown = token
            numbers[token] = number
        }
        #expect(shown == 40)
    }
}

extension RelayObserver.Arrival {
    fileprivate static func of(
        token: UInt64, number: UInt64, missed: Int = 0, epoch: String = "epoch"
    ) -> RelayObserver.Arrival {
        RelayObserver.Arrival(
            epoch: epoch, token: FencingToken(rawValue: token), holder: .numbered(1), holderName: "alpha",
            batch: RelayBatch(number: number, missed: missed, readings: []))
    }
}
