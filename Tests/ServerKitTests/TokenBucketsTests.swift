import Domain
import ServerKit
import Testing

struct TokenBucketsTests {
    private func buckets(capacity: Int = 100) -> TokenBuckets<String> {
        TokenBuckets(rate: Rate(perSecond: 2, burst: 3), capacity: capacity, at: .origin)
    }

    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(sinceOrigin: .seconds(seconds)) }

    @Test func burst_isThereAtOnce_andThenTheRate() {
        var buckets = buckets()

        let first = (0..<4).map { _ in buckets.take("a", at: at(0)) }
        let early = buckets.take("a", at: at(0.25))
        let inTime = buckets.take("a", at: at(0.5))

        #expect(first == [nil, nil, nil, .milliseconds(500)])
        #expect(early == .milliseconds(250))
        #expect(inTime == nil)
    }

    @Test func rest_fillsTheBucket_butNotAboveItsRim() {
        var buckets = buckets()
        for _ in 0..<3 { _ = buckets.take("a", at: at(0)) }

        let after = (0..<4).map { _ in buckets.take("a", at: at(1000)) == nil }

        #expect(after == [true, true, true, false])
    }

    @Test func askers_doNotTakeFromEachOther() {
        var buckets = buckets()
        for _ in 0..<3 { _ = buckets.take("a", at: at(0)) }

        let other = buckets.take("b", at: at(0))

        #expect(other == nil)
    }

    @Test func clockThatStepsBack_givesNothingAway() {
        var buckets = buckets()
        for _ in 0..<3 { _ = buckets.take("a", at: at(10)) }

        let earlier = buckets.take("a", at: at(0))
        let later = buckets.take("a", at: at(10.25))

        #expect(earlier == .milliseconds(500))
        #expect(later == .milliseconds(250))
    }

    @Test func fullBuckets_areForgotten() {
        var buckets = buckets()
        for index in 0..<50 { _ = buckets.take("\(index)", at: at(0)) }
        #expect(buckets.count == 50)

        _ = buckets.take("late", at: at(10))

        #expect(buckets.count == 1)
    }

    @Test func tooManyAskers_shareOneBucket_andTheMemoryIsBounded() {
        var buckets = buckets(capacity: 10)

        let answers = (0..<1000).map { buckets.take("\($0)", at: at(0)) == nil }

        #expect(answers.filter { $0 }.count == 13)
        #expect(buckets.count == 10)
        // Those that have a bucket keep it.
        let known = buckets.take("0", at: at(0))
        #expect(known == nil)
    }
}
