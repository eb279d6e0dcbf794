import Testing

@testable import Domain

struct RunScheduleTests {
    @Test func firstReasonStays_unlessAPersonAsks() {
        for first in [SyncTrigger.poll, .retry, .asked] {
            for second in [SyncTrigger.poll, .retry, .asked] {
                var schedule = RunSchedule()
                schedule.ask(first)
                schedule.ask(second)
                #expect(schedule.again == (second == .asked ? .asked : first))
            }
        }
    }

    @Test func run_isTakenOnce_withWhatIsUnread() {
        var schedule = RunSchedule()
        #expect(schedule.take(at: .origin) == nil)
        #expect(schedule.failures == 0)
        schedule.start(at: .origin)
        let taken = schedule.take(at: .origin)
        #expect((taken?.trigger, taken?.types) == (.started, Set(RecordType.known)))
        #expect(schedule.take(at: .origin) == nil)
        schedule.ask(.poll)
        #expect(schedule.take(at: .origin)?.types == [])
    }

    @Test func failedRun_waitsForItsTime_andStartingOverForgetsIt() {
        let time = MonotonicTime.origin + .seconds(10)
        var schedule = RunSchedule()
        schedule.failed(3, retryAt: time, isLimit: true)
        #expect((schedule.failures, schedule.nextRetry) == (3, time))
        #expect(schedule.take(at: .origin + .milliseconds(9_999)) == nil)
        schedule.endWaitUnlessLimited()
        #expect(schedule.nextRetry == time)
        var waited = schedule
        #expect(waited.take(at: time)?.trigger == .retry)
        #expect(waited.nextRetry == nil)
        schedule.startOver(because: .started)
        #expect(schedule.failures == 0)
        #expect(schedule.take(at: .origin)?.trigger == .retry)

        var unlimited = RunSchedule()
        unlimited.failed(1, retryAt: time, isLimit: false)
        unlimited.endWaitUnlessLimited()
        #expect(unlimited.take(at: .origin) != nil)
    }

    /// A change that was reported is fetched by its own run: the next poll is needless, the one after it is not.
    @Test func poll_isLeftOut_onceAfterAReportedChange() {
        var timing = SyncTiming()
        timing.pollInterval = .seconds(60)
        var schedule = RunSchedule()
        schedule.remoteChanged()
        #expect(schedule.poll(at: .origin + .seconds(60)) == false)
        #expect(schedule.nextPoll(timing) == .origin + .seconds(120))
        #expect(schedule.poll(at: .origin + .seconds(120)) == true)
        #expect(schedule.take(at: .origin)?.types == Set(RecordType.known))
        schedule.remoteChanged()
        schedule.everythingRead(at: .origin + .seconds(130))
        #expect(schedule.poll(at: .origin + .seconds(190)) == true)
    }
}
