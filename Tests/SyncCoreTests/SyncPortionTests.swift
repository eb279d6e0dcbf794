import Testing

@testable import Domain

/// A link over which only so much comes through before the time for an answer is over.
struct SyncPortionTests {
    private var bench = SessionBench()

    /// Whatever waits is sent and read in the end, and few requests are in vain.
    @Test(arguments: [SyncFailure.Kind.network, .serviceUnavailable], [1, 7, 100, 269])
    mutating func whatIsTooMuchForTheLink_isSentAndRead_inSmallerPortions(kind: SyncFailure.Kind, bearable: Int) {
        var (waiting, unread, inVain) = (270, 270, 0)
        bench.begin(pending: waiting)
        for _ in 0..<20_000 where waiting > 0 || unread > 0 {
            switch bench.operation {
            case .readBatch(let most, _, _):
                bench.answer(.batchRead(waiting > 0 ? .records(1...min(most, waiting)) : nil))
            case .push(let batch) where batch.records.count > bearable:
                inVain += 1
                bench.fail(kind)
            case .push(let batch):
                waiting -= batch.records.count
                bench.answer(.pushed(.taking(batch), .exact(at: bench.now)))
            case .fetch(.deviceSettings, _, let limit) where min(limit, unread) > bearable:
                inVain += 1
                bench.fail(kind)
            case .fetch(.deviceSettings, _, let limit):
                let count = min(limit, unread)
                unread -= count
                bench.answer(.pageFetched(.page(.deviceSettings, count: count, moreComing: unread > 0)))
            case let operation?: bench.answer(operation.emptyAnswer(at: bench.now))
            case nil:
                bench.advance(by: .seconds(300))
                if bench.operation == nil { bench.send(.triggered(.asked)) }
            }
        }
        #expect(waiting == 0 && unread == 0)
        // Twice as many are tried after each portion that was answered.
        #expect(inVain <= 2 * (9 + 270 / ((bearable + 1) / 2)))
    }

    /// What was refused is sent as it was: less of it would be refused as well.
    @Test(arguments: [SyncFailure.Kind.other, .rateLimited, .quotaExceeded, .leaseHeld])
    mutating func refusal_shortensNothing(kind: SyncFailure.Kind) {
        bench.begin()
        bench.answer(.batchRead(.records(1...4)))
        bench.fail(kind)
        bench.advance(by: .seconds(300))
        for _ in 0..<20 {
            guard let operation = bench.operation else { break }
            bench.answer(operation.emptyAnswer(at: bench.now))
        }
        #expect(bench.history.contains(.fetch(.deviceSettings, since: "t0", limit: 400)))
        #expect(bench.history.filter { $0 == .readBatch(recordsMax: 400, bytesMax: 1 << 20) }.count >= 2)
    }

    /// A part of a batch that was too large is too much at once as well, and is read anew with a smaller number.
    @Test mutating func partWithoutAnAnswer_isReadAnew() {
        bench.begin()
        bench.answer(.batchRead(.records(1...8)))
        bench.fail(.limitExceeded)
        #expect(bench.operation == .push(.records(1...4)))
        bench.fail(.network)
        #expect((bench.status.queue.parts, bench.state.batchPortion.records(of: 400)) == (0, 2))
    }

    @Test func portion_isHalved_andGrowsBackToWhatIsConfigured() {
        var portion = Portion()
        #expect(portion.records(of: 400) == 400)
        portion.answered(400, of: 400)
        #expect(portion.records(of: 400) == 400)
        portion.unanswered(270)
        #expect(portion.records(of: 400) == 135 && portion.records(of: 50) == 50)
        for (count, records) in [(134, 135), (135, 270), (135, 270), (270, 400), (1, 400)] {
            portion.answered(count, of: 400)
            #expect(portion.records(of: 400) == records)
        }
        for count in [1, 0] {
            portion.unanswered(count)
            #expect(portion.records(of: 400) == 1)
        }
        portion.unanswered(400)
        portion.answered(200, of: 400)
        #expect(portion.records(of: 400) == 400)
    }
}
