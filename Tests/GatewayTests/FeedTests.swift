import Gateway
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FeedTests {
    @Test func slowListener_losesTheOldest_andIsToldHowMany() async {
        let feed = Feed<Int>()
        let slow = feed.subscribe(buffer: 2)
        for value in 1...5 { feed.yield(value) }
        feed.finish()

        var seen: [[Int]] = []
        for await item in slow { seen.append([item.value, item.missed]) }

        #expect(seen == [[4, 3], [5, 0]])
    }

    @Test func missedOnes_areCountedWhereTheyAreMissing() async {
        let feed = Feed<Int>()
        var slow = feed.subscribe(buffer: 1).makeAsyncIterator()

        feed.yield(1)
        #expect(await slow.next()?.missed == 0)
        for value in 2...4 { feed.yield(value) }
        let afterGap = await slow.next()
        feed.yield(5)
        let next = await slow.next()

        #expect(afterGap?.value == 4)
        #expect(afterGap?.missed == 2)
        #expect(next?.missed == 0)
    }

    @Test func otherListeners_loseNothing_besideASlowOne() async {
        let feed = Feed<Int>()
        let slow = feed.subscribe(buffer: 1)
        let quick = feed.subscribe(buffer: 100)
        for value in 1...50 { feed.yield(value) }
        feed.finish()

        var values: [Int] = []
        for await item in quick { values.append(item.missed == 0 ? item.value : -1) }

        #expect(values == Array(1...50))
        withExtendedLifetime(slow) {}
    }

    @Test func listener_hearsNothingFromBefore_andThatIsNoLoss() async {
        let feed = Feed<Int>()
        feed.yield(1)
        let late = feed.subscribe()
        feed.yield(2)
        feed.finish()

        var seen: [[Int]] = []
        for await item in late { seen.append([item.value, item.missed]) }

        #expect(seen == [[2, 0]])
    }

    @Test func finish_endsStreams_alsoThoseToCome() async {
        let feed = Feed<Int>()
        let before = feed.subscribe()
        feed.finish()
        let after = feed.subscribe()
        feed.yield(1)

        for await _ in before { Issue.record("A finished feed said something") }
        for await _ in after { Issue.record("A finished feed said something") }
        #expect(!feed.hasListeners)
    }

    @Test func listener_isForgotten_whenItLeaves() async {
        let feed = Feed<Int>()
        do {
            let listener = feed.subscribe()
            #expect(feed.hasListeners)
            withExtendedLifetime(listener) {}
        }

        #expect(!feed.hasListeners)
    }

    @Test func listener_isForgotten_whenItsTaskIsCancelled() async {
        let feed = Feed<Int>()
        let listener = feed.subscribe()
        let listening = Task {
            for await _ in listener {}
        }
        listening.cancel()
        await listening.value

        #expect(!feed.hasListeners)
    }

    @Test func listener_thatLeavesWhileItIsTold_holdsUpNobody() async throws {
        try await leaveWhileTold {
            let feed = Feed<Int>()
            let values = feed.subscribe()
            return (Task { for await _ in values {} }, { feed.yield(1) })
        }
    }
}
