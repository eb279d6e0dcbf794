import Domain
import Testing

/// The holder's machine: asking, holding, losing, letting go.
struct LeaseMachineTests {
    @Test func wanted_asks_andTheGrantPermits_countedFromTheRequest() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)

        let asked = machine.wanted(.resume, at: .seconds(10))
        let granted = machine.granted(.of(token: 1), sentAt: .seconds(10), at: .seconds(14), random: 0)

        #expect(asked == .sendAcquire(again: false, takeover: nil))
        let permit = LeasePermit(token: 1, terms: .standard(.keep), sentAt: .seconds(10))
        #expect((granted, permit.hardStopAt) == (.permit(permit), .seconds(118)))
    }

    /// Who has to let go hears of it at once, or at its next heartbeat: so long the attempts at the link may fail.
    @Test(arguments: [(isTold: true, seconds: 10.0), (isTold: false, seconds: 90.0)])
    func takeover_keepsItsLease_whileTheOldHolderMayNotHaveLetGo(isTold: Bool, seconds: Double) {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        var lease = LeaseView.of(token: 2)
        lease.isOldHolderTold = isTold
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(10))
        _ = machine.granted(lease, sentAt: .seconds(10), at: .seconds(10), random: 0)

        let failed = machine.channelClosed(.attemptFailed, at: .seconds(10 + seconds - 2))
        let again = machine.wanted(.resume, at: .seconds(10 + seconds - 1))
        let last = machine.channelClosed(.attemptFailed, at: .seconds(10 + seconds))

        #expect(failed == .none)
        #expect(again == .permit(LeasePermit(token: 2, terms: .standard(.keep), sentAt: .seconds(10))))
        #expect(last == .sendRelease(2))
    }

    @Test func heartbeat_isDueAtHalfTheTime_orALittleBefore() {
        var early = LeaseMachine.held(.keep, random: 0)
        var late = LeaseMachine.held(.keep, random: 100)

        #expect((early.nextWake, late.nextWake) == (.seconds(54), .seconds(60)))
        let woken = (early.woke(at: .seconds(54), random: 0), late.woke(at: .seconds(59.9), random: 0))
        #expect(woken == (.sendRenewal, .none))
    }

    /// Rule 1: the next one comes in time, whether the failure is told or not.
    @Test(arguments: [false, true])
    func lostHeartbeat_isRepeated_longBeforeJeopardy(isTold: Bool) {
        for random in [UInt64(0), 400] {
            var machine = LeaseMachine.held(.strict, random: 100)
            let first = machine.joinRenewal(at: .seconds(60), random: random)
            if isTold { _ = machine.renewalFailed(at: .seconds(61)) }

            #expect((first, machine.nextWake) == (1, random == 0 ? .seconds(64) : .seconds(66)))
            let second = machine.woke(at: .seconds(66), random: 0)
            #expect(second == .sendRenewal)
            #expect(machine.joinRenewal(at: .seconds(66), random: 0) == 1)
            #expect(machine.phase(at: .seconds(66)) == .held)
        }
    }

    @Test func heartbeats_joinABatch_whenTheyAreNotFresh() {
        var machine = LeaseMachine.held(.keep)

        #expect(machine.joinRenewal(at: .seconds(29), random: 0) == nil)
        #expect(machine.joinRenewal(at: .seconds(30), random: 0) == 1)
        // Under way, so not again before its time.
        #expect(machine.joinRenewal(at: .seconds(31), random: 0) == nil)
    }

    @Test func renewed_countsFromWhenItWasSent() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.joinRenewal(at: .seconds(60), random: 0)

        let action = machine.renewed(.of(token: 1, .strict), sentAt: .seconds(60), at: .seconds(63), random: 100)

        #expect(action == .permit(LeasePermit(token: 1, terms: .standard(.strict), sentAt: .seconds(60))))
        #expect(machine.nextWake == .seconds(120))
    }

    @Test func renewed_thatIsOlderThanWhatIsKnown_changesNothing() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.renewed(.of(token: 1, .strict), sentAt: .seconds(60), at: .seconds(61), random: 0)

        let late = machine.renewed(.of(token: 1, .strict), sentAt: .seconds(50), at: .seconds(62), random: 0)

        #expect((late, machine.permit?.sentAt) == (.none, .seconds(60)))
    }

    @Test func phases_areThoseOfTheSpec() {
        let machine = LeaseMachine.held(.keep)

        #expect((machine.phase(at: .seconds(79.9)), machine.phase(at: .seconds(80))) == (.held, .jeopardy))
        #expect((machine.phase(at: .seconds(107.9)), machine.phase(at: .seconds(108))) == (.jeopardy, .lost))
    }

    @Test func hardStop_withdraws_underStrict_andTheReleaseFollowsTheChannel() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.joinRenewal(at: .seconds(105), random: 0)
        _ = machine.renewalFailed(at: .seconds(106))

        let stopped = machine.woke(at: .seconds(108), random: 0)
        let closed = machine.channelClosed(.letGo, at: .seconds(108))

        #expect((stopped, closed) == (.withdraw(.hardStop), .sendRelease(1)))
    }

    @Test func hardStop_keepsTheLink_underKeep_andARenewalMakesItGood() {
        var machine = LeaseMachine.held(.keep)
        let stopped = machine.wokeUntilQuiet(at: .seconds(108))

        #expect((stopped, machine.phase(at: .seconds(108))) == ([.sendRenewal], .lost))
        _ = machine.renewed(.of(token: 1), sentAt: .seconds(500), at: .seconds(501), random: 0)
        #expect(machine.phase(at: .seconds(501)) == .held)
    }

    /// A lease that was lost, made good and is lost again is looked at when its time is over, as the first time.
    @Test func hardStop_isKept_theSecondTimeToo() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.wokeUntilQuiet(at: .seconds(108))
        _ = machine.renewed(.of(token: 1), sentAt: .seconds(500), at: .seconds(501), random: 0)
        _ = machine.joinRenewal(at: .seconds(607), random: 400)
        _ = machine.renewalFailed(at: .seconds(607))

        #expect(machine.nextWake == .seconds(608))
        _ = machine.wokeUntilQuiet(at: .seconds(608))
        #expect(machine.phase(at: .seconds(608)) == .lost)
        #expect(machine.nextWake.map { $0 > .seconds(608) } == true)
    }

    @Test func grant_thatCameTooLateToBeUsed_isAskedForAgain() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))

        let late = machine.granted(.of(token: 1, .strict), sentAt: .seconds(0), at: .seconds(108), random: 0)

        #expect(late == .sendAcquire(again: false, takeover: nil))
    }

    @Test func grant_isReleased_whenNobodyWaitsForItAnyMore() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.unwanted(at: .seconds(1))

        let late = machine.granted(.of(token: 1), sentAt: .seconds(0), at: .seconds(2), random: 0)

        #expect(late == .sendRelease(1))
    }

    @Test func lostAnswer_isAskedForAgain_withTheSameRequest() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(1), random: 200)

        let again = machine.woke(at: .seconds(2), random: 0)
        let unanswered = machine.woke(at: .seconds(7), random: 0)
        let third = machine.wokeUntilQuiet(at: .seconds(10))

        #expect((again, unanswered) == (.sendAcquire(again: true, takeover: nil), .none))
        #expect(third == [.sendAcquire(again: true, takeover: nil)])
    }

    @Test func refused_asksAnew_atTheLatestAfterHalfAMinute() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))

        let action = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(130), at: .seconds(1), random: 200)

        #expect((action, machine.phase(at: .seconds(1)), machine.nextWake) == (.none, .waiting(.held), .seconds(31)))
        let again = machine.woke(at: .seconds(31), random: 0)
        #expect(again == .sendAcquire(again: false, takeover: nil))
    }

    @Test func releaseElsewhere_isTakenAtOnce_byWhoWaits() {
        var machine = LeaseMachine.refused()

        _ = machine.leaseSeen(.free(token: 4), at: .seconds(5), random: 999)

        #expect(machine.nextWake.map { $0 < .seconds(5.5) } == true)
    }

    // MARK: Letting go

    @Test func letGo_releasesOnce_andALateRenewalResurrectsNothing() {
        var machine = LeaseMachine.held(.keep)
        let closed = machine.channelClosed(.letGo, at: .seconds(5))

        let renewed = machine.renewed(.of(token: 1), sentAt: .seconds(4), at: .seconds(6), random: 0)

        #expect((closed, renewed, machine.phase(at: .seconds(6))) == (.sendRelease(1), .none, .releasing))
    }

    /// Rule 6.
    @Test func release_waitsForTheRenewalUnderWay() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.joinRenewal(at: .seconds(60), random: 0)
        let closed = machine.channelClosed(.letGo, at: .seconds(61))

        let renewed = machine.renewed(.of(token: 1), sentAt: .seconds(60), at: .seconds(62), random: 0)

        #expect((closed, renewed) == (.none, .sendRelease(1)))
    }

    @Test func release_waitsNoLonger_thanTheRenewalMayTake() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.joinRenewal(at: .seconds(60), random: 200)
        _ = machine.channelClosed(.letGo, at: .seconds(61))

        #expect(machine.nextWake == .seconds(65))
        let woken = machine.woke(at: .seconds(65), random: 0)
        #expect(woken == .sendRelease(1))
    }

    @Test func release_isRepeated_untilTheAuthorityGivesItAwayByItself() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.channelClosed(.letGo, at: .seconds(0))
        _ = machine.releaseFailed(1, at: .seconds(1), random: 200)
        let again = machine.woke(at: .seconds(6), random: 0)
        _ = machine.releaseFailed(1, at: .seconds(135), random: 0)

        #expect((again, machine.nextWake, machine.phase(at: .seconds(135))) == (.sendRelease(1), nil, .none))
    }

    /// A release that was sent may arrive at any time: what it frees must not be in use.
    @Test func tokenThatWasGivenBack_isNeverUsedAgain() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.channelClosed(.letGo, at: .seconds(0))
        _ = machine.wanted(.resume, at: .seconds(1))
        let asked = machine.releaseFailed(1, at: .seconds(2), random: 0)

        let stale = machine.granted(.of(token: 1, .strict), sentAt: .seconds(2), at: .seconds(3), random: 0)
        let askedAgain = machine.released(1, at: .seconds(4))
        let fresh = machine.granted(.of(token: 2, .strict), sentAt: .seconds(4), at: .seconds(5), random: 0)

        #expect((asked, stale) == (.sendAcquire(again: false, takeover: nil), .sendRelease(1)))
        #expect(askedAgain == .sendAcquire(again: false, takeover: nil))
        #expect(fresh == .permit(LeasePermit(token: 2, terms: .standard(.strict), sentAt: .seconds(4))))
    }

    /// A link without a lease runs on, so the token cannot be given back once more: another one is asked for.
    @Test func tokenWhoseReleaseGotNoAnswer_isNotGrantedAgain() {
        var (machine, authority) = (LeaseMachine.held(.keep), Authority(.keep))
        _ = authority.acquire(.of(1, request: 1, policy: .keep), at: .seconds(0))
        _ = machine.channelClosed(.letGo, at: .seconds(0))
        _ = machine.wanted(.resume, at: .seconds(1))
        _ = machine.releaseFailed(1, at: .seconds(2), random: 0)
        for second in stride(from: 10.0, through: 40, by: 10) {
            _ = machine.wokeUntilQuiet(at: .seconds(second))
            _ = machine.requestFailed(at: .seconds(second + 1), random: 0)
        }
        let floor = machine.greatestToken

        let late = machine.granted(.of(token: 1), sentAt: .seconds(2), at: .seconds(60), random: 0)
        let answer = authority.acquire(.of(1, request: 2, policy: .keep, floor: floor), at: .seconds(61))
        let released = authority.release(1, session: 1)

        #expect((floor, late, machine.phase(at: .seconds(60))) == (2, .none, .unleased(nil)))
        #expect((answer.token, released) == (3, .unchanged(authority.record)))
    }

    @Test func failedAttempt_releasesAtOnce() {
        var machine = LeaseMachine.held(.keep)

        let closed = machine.channelClosed(.attemptFailed, at: .seconds(3))

        #expect(closed == .sendRelease(1))
    }

    /// Rule 8.
    @Test func lostLink_keepsTheLease_forTenSecondsOfReconnecting() {
        var machine = LeaseMachine.held(.keep)
        machine.linkUp()
        let lost = machine.channelClosed(.linkLost, at: .seconds(20))
        let retried = machine.wanted(.resume, at: .seconds(22))
        let failed = machine.channelClosed(.attemptFailed, at: .seconds(25))

        #expect(lost == .none)
        #expect(retried == .permit(LeasePermit(token: 1, terms: .standard(.keep), sentAt: .seconds(0))))
        #expect((failed, machine.nextWake) == (.none, .seconds(30)))
        let over = machine.woke(at: .seconds(30), random: 0)
        #expect(over == .sendRelease(1))
    }

    @Test func reconnect_withinTheGrace_isAsIfNothingHappened() {
        var machine = LeaseMachine.held(.keep, random: 100)
        _ = machine.channelClosed(.linkLost, at: .seconds(20))
        _ = machine.wanted(.resume, at: .seconds(22))
        machine.linkUp()

        #expect(machine.nextWake == .seconds(60))
        let lostAgain = machine.channelClosed(.linkLost, at: .seconds(40))
        #expect((lostAgain, machine.nextWake) == (.none, .seconds(50)))
    }

    /// An attempt that lasts beyond the grace is let finish.
    @Test func reconnect_thatFailsAfterTheGrace_releases() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.channelClosed(.linkLost, at: .seconds(20))
        _ = machine.wanted(.resume, at: .seconds(29))

        let during = machine.woke(at: .seconds(31), random: 0)
        let failed = machine.channelClosed(.attemptFailed, at: .seconds(39))

        #expect((during, failed) == (.none, .sendRelease(1)))
    }

    @Test func unwanted_closesTheChannelFirst() {
        var machine = LeaseMachine.held(.keep)

        let unwanted = machine.unwanted(at: .seconds(5))
        let closed = machine.channelClosed(.letGo, at: .seconds(6))

        #expect((unwanted, closed) == (.withdraw(.unwanted), .sendRelease(1)))
    }
}
