import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Testing

/// Random runs of the model of timelines (Tests/Models/README.md), replayed through the real judgement of change tokens.
struct TimelineTraceTests {
    @Test func tokens_areJudgedAsInTheModel() throws {
        var (store, answers) = (ModelledFeeds(), [UInt64: Int]())
        for (number, line) in try ModelLine.lines(of: "timelines") {
            guard let expected = try store.pass(line) else { continue }
            #expect(expected.model == expected.real, "timelines.txt:\(number): \(line.text)")
            answers[expected.model, default: 0] += 1
        }
        // Good, below the floor, lost, another epoch, and pages: each must have come.
        #expect(answers.count == 5)
    }
}

private struct ModelledFeeds {
    private struct Feed {
        var sequence: UInt64 = 0
        var floor: UInt64 = 0
        var marks: [TimelineMark] = []
    }

    private struct Store {
        var epoch: UInt64 = 0
        var feeds = [Feed(), Feed()]
    }

    private var store = Store()
    private var copy = Store()
    /// The token that was judged good in the line before.
    private var good: ChangeToken?

    /// - Returns: what the model answered and what the real code does; nil where nothing is answered.
    mutating func pass(_ line: ModelLine) throws -> (model: UInt64, real: UInt64)? {
        let numbers = line.numbers.map { Int($0) }
        let before = good
        good = nil
        switch line.word {
        case "run": self = ModelledFeeds()
        case "mark": store.feeds[numbers[0]].marks.append(mark(line.numbers))
        case "change": store.feeds[numbers[0]].sequence = line.numbers[1]
        case "purge": purge(numbers[0], floor: line.numbers[1], dropped: line.numbers[2])
        case "store": move(line)
        case "judge": return judge(line)
        case "page": return page(line, after: before)
        default: Issue.record("what is \(line.text)?")
        }
        return nil
    }

    private func mark(_ numbers: [UInt64]) -> TimelineMark {
        TimelineMark(number: numbers[1], id: numbers[2] + 1, first: numbers[3])
    }

    private mutating func purge(_ zone: Int, floor: UInt64, dropped: UInt64) {
        store.feeds[zone].floor = floor
        let outdated = TimelineMark.outdated(store.feeds[zone].marks, floor: floor)
        store.feeds[zone].marks.removeFirst(outdated.count)
        #expect(store.feeds[zone].marks.first?.number ?? dropped + 1 == dropped + 1)
    }

    private mutating func move(_ line: ModelLine) {
        if line.text.contains("copied") {
            copy = store
        } else {
            store = copy
            store.epoch = line["epoch"] ?? store.epoch
        }
    }

    private mutating func judge(_ line: ModelLine) -> (model: UInt64, real: UInt64) {
        let zone = Int(line["judge"] ?? 0)
        let token = token(line)
        var real: UInt64 = 0
        do {
            try state(of: zone).check(token, marks: store.feeds[zone].marks)
            good = token
        } catch {
            switch error.code {
            case .anotherZone: real = 4
            case .timelineLost: real = 2
            // One code for both; the epoch beside it tells a host which.
            case .changeTokenExpired: real = error.epoch == token.epoch ? 1 : 3
            default: real = 99
            }
        }
        return (line["answer"] ?? 98, real)
    }

    private func page(_ line: ModelLine, after token: ChangeToken?) -> (model: UInt64, real: UInt64) {
        let expected = self.token(line)
        let next = state(of: Int(line["zone"] ?? 0))
            .token(after: token, last: line["more"] == 1 ? line["seq"] : nil, moreComing: line["more"] == 1)
        return (100, next == expected ? 100 : 0)
    }

    private func state(of zone: Int) -> FeedState {
        let feed = store.feeds[zone]
        return FeedState(
            zone: .numbered(UInt64(zone)), epoch: "\(store.epoch)", floor: feed.floor, sequence: feed.sequence,
            mark: feed.marks.last)
    }

    private func token(_ line: ModelLine) -> ChangeToken {
        let mark = line["mark"] ?? 0
        return ChangeToken(
            epoch: "\(line["epoch"] ?? 0)", sequence: line["seq"] ?? 0,
            floor: line["floor"].flatMap { $0 == 99 ? nil : $0 },
            origin: ChangeToken.Origin(
                zone: Zone.ID.numbered(line["zone"] ?? 0).description, mark: mark,
                markID: mark == 0 ? 0 : (line["id"] ?? 0) + 1, readAt: line["read"] ?? 0))
    }
}
