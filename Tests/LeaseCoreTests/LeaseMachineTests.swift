import LeaseCore
import MeterModel
import Testing

/// The holder's machine: asking, holding, losing, letting go.
struct LeaseMachineTests {
    @Test func wanted_asks_andTheGrantPermits_countedFromTheRequest() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)

        let asked = machine.wanted(.resume, at: .seconds(10))
        let granted = machine.granted(.of(token: 1), sentAt: .seconds(10), at: .seconds(14), dice: 0)

        #expect(asked == .sendAcquire(again: false, isTakeover: false))
        let permit = LeasePermit(token: 1, terms: .standard(.keep), sentAt: .seconds(10))
        #expect(granted == .permit(permit))
        #expect(permit.hardStopAt == .seconds(118))
    }

    /// Who was told to let go needs a moment: the first attempt at the link fails, and the lease is kept for the next.
    @Test func takeover_keepsItsLease_whenTheFirstAttemptFails() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseWish(isTakeover: true, isAsked: true), at: .seconds(10))
        _ = machine.granted(.of(token: 2), sentAt: .seconds(10), at: .seconds(10), dice: 0)

        let failed = machine.channelClosed(.attemptFailed, at: .seconds(11))
        let again = machine.wanted(.resume, at: .seconds(12))

        #expect(failed == .none)
        #expect(again == .permit(LeasePermit(token: 2, terms: .standard(.keep), sentAt: .seconds(10))))
    }

    @Test func heartbeat_isDueAtHalfTheTime_orALittleBefore() {
        var early = LeaseMachine.held(.keep, dice: 0)
        var late = LeaseMachine.held(.keep, dice: 100)

        #expect(early.nextWake == .seconds(54))
        #expect(late.nextWake == .seconds(60))
        let woken = (early.woke(at: .seconds(54), dice: 0), late.woke(at: .seconds(59.9), dice: 0))
        #expect(woken == (.sendRenewal, .none))
    }

    /// Rule 1: the next one comes in time, whether the failure is told or not.
    @Test(arguments: [false, true])
    func lostHeartbeat_isRepeated_longBeforeJeopardy(isTold: Bool) {
        for dice in [UInt64(0), 400] {
            var machine = LeaseMachine.held(.strict, dice: 100)
            let first = machine.joinRenewal(at: .seconds(60), dice: dice)
            if isTold { _ = machine.renewalFailed(at: .seconds(61)) }

            #expect(first == 1)
            #expect(machine.nextWake == (dice == 0 ? .seconds(64) : .seconds(66)))
            let second = machine.woke(at: .seconds(66), dice: 0)
            #expect(second == .sendRenewal)
            #expect(machine.joinRenewal(at: .seconds(66), dice: 0) == 1)
            #expect(machine.phase(at: .seconds(66)) == .held)
        }
    }

    @Test func heartbeats_joinABatch_whenTheyAreNotFresh() {
        var machine = LeaseMachine.held(.keep)

        #expect(machine.joinRenewal(at: .seconds(29), dice: 0) == nil)
        #expect(machine.joinRenewal(at: .seconds(30), dice: 0) == 1)
        // Under way, so not again before its time.
        #expect(machine.joinRenewal(at: .seconds(31), dice: 0) == nil)
    }

    @Test func renewed_countsFromWhenItWasSent() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.joinRenewal(at: .seconds(60), dice: 0)

        let action = machine.renewed(.of(token: 1, .strict), sentAt: .seconds(60), at: .seconds(63), dice: 100)

        #expect(action == .permit(LeasePermit(token: 1, terms: .standard(.strict), sentAt: .seconds(60))))
        #expect(machine.nextWake == .seconds(120))
    }

    @Test func renewed_thatIsOlderThanWhatIsKnown_changesNothing() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.renewed(.of(token: 1, .strict), sentAt: .seconds(60), at: .seconds(61), dice: 0)

        let late = machine.renewed(.of(token: 1, .strict), sentAt: .seconds(50), at: .seconds(62), dice: 0)

        #expect(late == .none)
        #expect(machine.permit?.sentAt == .seconds(60))
    }

    @Test func phases_areThoseOfTheSpec() {
        let machine = LeaseMachine.held(.keep)

        #expect(machine.phase(at: .seconds(79.9)) == .held)
        #expect(machine.phase(at: .seconds(80)) == .jeopardy)
        #expect(machine.phase(at: .seconds(107.9)) == .jeopardy)
        #expect(machine.phase(at: .seconds(108)) == .lost)
    }

    @Test func hardStop_withdraws_underStrict_andTheReleaseFollowsTheChannel() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.joinRenewal(at: .seconds(105), dice: 0)
        _ = machine.renewalFailed(at: .seconds(106))

        let stopped = machine.woke(at: .seconds(108), dice: 0)
        let closed = machine.channelClosed(.letGo, at: .seconds(108))

        #expect(stopped == .withdraw(.hardStop))
        #expect(closed == .sendRelease(1))
    }

    @Test func hardStop_keepsTheLink_underKeep_andARenewalMakesItGood() {
        var machine = LeaseMachine.held(.keep)
        let stopped = machine.wokeUntilQuiet(at: .seconds(108))

        #expect(stopped == [.sendRenewal])
        #expect(machine.phase(at: .seconds(108)) == .lost)
        _ = machine.renewed(.of(token: 1), sentAt: .seconds(500), at: .seconds(501), dice: 0)
        #expect(machine.phase(at: .seconds(501)) == .held)
    }

    @Test func grant_thatCameTooLateToBeUsed_isAskedForAgain() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))

        let late = machine.granted(.of(token: 1, .strict), sentAt: .seconds(0), at: .seconds(108), dice: 0)

        #expect(late == .sendAcquire(again: true, isTakeover: false))
    }

    @Test func grant_isReleased_whenNobodyWaitsForItAnyMore() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.unwanted(at: .seconds(1))

        let late = machine.granted(.of(token: 1), sentAt: .seconds(0), at: .seconds(2), dice: 0)

        #expect(late == .sendRelease(1))
    }

    @Test func lostAnswer_isAskedForAgain_withTheSameRequest() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(1), dice: 200)

        let again = machine.woke(at: .seconds(2), dice: 0)
        let unanswered = machine.woke(at: .seconds(7), dice: 0)
        let third = machine.wokeUntilQuiet(at: .seconds(10))

        #expect(again == .sendAcquire(again: true, isTakeover: false))
        #expect(unanswered == .none)
        #expect(third == [.sendAcquire(again: true, isTakeover: false)])
    }

    @Test func refused_asksAnew_atTheLatestAfterHalfAMinute() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))

        let action = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(130), at: .seconds(1), dice: 200)

        #expect(action == .none)
        #expect(machine.phase(at: .seconds(1)) == .waiting(.held))
        #expect(machine.nextWake == .seconds(31))
        let again = machine.woke(at: .seconds(31), dice: 0)
        #expect(again == .sendAcquire(again: false, isTakeover: false))
    }

    @Test func releaseElsewhere_isTakenAtOnce_byWhoWaits() {
        var machine = LeaseMachine.refused()

        _ = machine.leaseSeen(.free(token: 4), at: .seconds(5), dice: 999)

        #expect(machine.nextWake.map { $0 < .seconds(5.5) } == true)
    }

    // MARK: Take-over and queue

    @Test func revoked_closesFirst_thenReleases_thenPauses() {
        var machine = LeaseMachine.held(.strict)

        let seen = machine.leaseSeen(.of(token: 1, .strict, state: .revoking), at: .seconds(5), dice: 0)
        let again = machine.wanted(.resume, at: .seconds(5))
        let closed = machine.channelClosed(.letGo, at: .seconds(6))
        let released = machine.released(1, at: .seconds(7))

        #expect(seen == .withdraw(.revoked))
        #expect(again == .none)
        #expect(closed == .sendRelease(1))
        #expect(released == .none)
        #expect(machine.nextWake == .seconds(35))
    }

    @Test func pause_isNotEnded_byTheNewsOfOurOwnRelease() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.leaseSeen(.of(token: 1, .strict, state: .revoking), at: .seconds(5), dice: 0)
        _ = machine.wanted(.resume, at: .seconds(5))
        _ = machine.channelClosed(.letGo, at: .seconds(6))
        _ = machine.released(1, at: .seconds(7))

        _ = machine.leaseSeen(.free(token: 1), at: .seconds(7), dice: 0)

        #expect(machine.nextWake == .seconds(35))
    }

    @Test func personsWord_endsThePause() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.leaseSeen(.of(token: 1, .strict, state: .revoking), at: .seconds(5), dice: 0)
        _ = machine.channelClosed(.letGo, at: .seconds(6))
        _ = machine.released(1, at: .seconds(7))

        let asked = machine.wanted(LeaseWish(isAsked: true), at: .seconds(8))

        #expect(asked == .sendAcquire(again: false, isTakeover: false))
    }

    @Test func revokedByRenewal_isTheSame() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.joinRenewal(at: .seconds(60), dice: 0)

        let lost = machine.renewalLost(.revoking, of: 1, .of(token: 1), at: .seconds(61), dice: 0)

        #expect(lost == .withdraw(.revoked))
    }

    @Test func takenOver_closesTheLink_underKeepToo_andReleasesNothing() {
        var machine = LeaseMachine.held(.keep)

        let seen = machine.leaseSeen(.of(token: 2, holder: 2), at: .seconds(5), dice: 0)
        let closed = machine.channelClosed(.letGo, at: .seconds(6))

        #expect(seen == .withdraw(.takenOver))
        #expect(closed == .none)
        #expect(machine.phase(at: .seconds(6)) == .none)
    }

    /// Rule 4: it ran out in a partition, and on return another has it.
    @Test func takenOver_showsTheConflict_whenTheLeaseHadRunOutUnderKeep() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.wokeUntilQuiet(at: .seconds(300))

        let lost = machine.renewalLost(.takenOver, of: 1, .of(token: 2, holder: 2), at: .seconds(301), dice: 0)

        #expect(lost == .permitUnleased)
        #expect(machine.phase(at: .seconds(301)) == .unleased(.held))
    }

    @Test func takeover_isAskedForOnce_thenWaitsInLine() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)

        let asked = machine.wanted(
            LeaseWish(isTakeover: true, waitsInLine: true, isAsked: true), at: .seconds(0))
        let refused = machine.refused(
            .revoking, .of(token: 4, .strict, holder: 2), retryAfter: .seconds(100), at: .seconds(1), dice: 0)
        let offered = machine.offered(at: .seconds(2))

        #expect(asked == .sendAcquire(again: false, isTakeover: true))
        #expect(refused == .joinQueue)
        #expect(offered == .sendAcquire(again: false, isTakeover: false))
    }

    @Test func takeover_isAskedForAtOnce_whenAPersonInsistsWhileItWaits() {
        var machine = LeaseMachine.refused()

        let pressed = machine.wanted(LeaseWish(isTakeover: true, isAsked: true), at: .seconds(2))

        #expect(pressed == .sendAcquire(again: false, isTakeover: true))
    }

    @Test func takeover_followsTheRefusal_whenAPersonInsistsMeanwhile() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.wanted(LeaseWish(isTakeover: true, isAsked: true), at: .seconds(1))

        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(2), dice: 0)

        #expect(refused == .sendAcquire(again: false, isTakeover: true))
    }

    @Test func queue_isLeft_whenNobodyWaitsAnyMore() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseWish(waitsInLine: true, isAsked: true), at: .seconds(0))
        let joined = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(1), dice: 0)

        let left = machine.unwanted(at: .seconds(2))

        #expect(joined == .joinQueue)
        #expect(left == .leaveQueue)
    }

    @Test func queue_isJoinedAgain_afterTheConnectionBroke() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseWish(waitsInLine: true, isAsked: true), at: .seconds(0))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(1), dice: 0)
        machine.cloudReached(at: .seconds(3), dice: 0)

        let asked = machine.woke(at: .seconds(3), dice: 0)
        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(4), dice: 0)

        #expect(asked == .sendAcquire(again: false, isTakeover: false))
        #expect(refused == .joinQueue)
    }

    // MARK: Letting go

    @Test func letGo_releasesOnce_andALateRenewalResurrectsNothing() {
        var machine = LeaseMachine.held(.keep)
        let closed = machine.channelClosed(.letGo, at: .seconds(5))

        let renewed = machine.renewed(.of(token: 1), sentAt: .seconds(4), at: .seconds(6), dice: 0)

        #expect(closed == .sendRelease(1))
        #expect(renewed == .none)
        #expect(machine.phase(at: .seconds(6)) == .releasing)
    }

    /// Rule 6.
    @Test func release_waitsForTheRenewalUnderWay() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.joinRenewal(at: .seconds(60), dice: 0)
        let closed = machine.channelClosed(.letGo, at: .seconds(61))

        let renewed = machine.renewed(.of(token: 1), sentAt: .seconds(60), at: .seconds(62), dice: 0)

        #expect(closed == .none)
        #expect(renewed == .sendRelease(1))
    }

    @Test func release_waitsNoLonger_thanTheRenewalMayTake() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.joinRenewal(at: .seconds(60), dice: 200)
        _ = machine.channelClosed(.letGo, at: .seconds(61))

        #expect(machine.nextWake == .seconds(65))
        let woken = machine.woke(at: .seconds(65), dice: 0)
        #expect(woken == .sendRelease(1))
    }

    @Test func release_isRepeated_untilTheAuthorityGivesItAwayByItself() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.channelClosed(.letGo, at: .seconds(0))
        _ = machine.releaseFailed(1, at: .seconds(1), dice: 200)
        let again = machine.woke(at: .seconds(6), dice: 0)
        _ = machine.releaseFailed(1, at: .seconds(135), dice: 0)

        #expect(again == .sendRelease(1))
        #expect(machine.nextWake == nil)
        #expect(machine.phase(at: .seconds(135)) == .none)
    }

    /// A release that was sent may arrive at any time: what it frees must not be in use.
    @Test func tokenThatWasGivenBack_isNeverUsedAgain() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.channelClosed(.letGo, at: .seconds(0))
        _ = machine.wanted(.resume, at: .seconds(1))
        let asked = machine.releaseFailed(1, at: .seconds(2), dice: 0)

        let stale = machine.granted(.of(token: 1, .strict), sentAt: .seconds(2), at: .seconds(3), dice: 0)
        let askedAgain = machine.released(1, at: .seconds(4))
        let fresh = machine.granted(.of(token: 2, .strict), sentAt: .seconds(4), at: .seconds(5), dice: 0)

        #expect(asked == .sendAcquire(again: false, isTakeover: false))
        #expect(stale == .sendRelease(1))
        #expect(askedAgain == .sendAcquire(again: false, isTakeover: false))
        #expect(fresh == .permit(LeasePermit(token: 2, terms: .standard(.strict), sentAt: .seconds(4))))
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
        #expect(failed == .none)
        #expect(machine.nextWake == .seconds(30))
        let over = machine.woke(at: .seconds(30), dice: 0)
        #expect(over == .sendRelease(1))
    }

    @Test func reconnect_withinTheGrace_isAsIfNothingHappened() {
        var machine = LeaseMachine.held(.keep, dice: 100)
        _ = machine.channelClosed(.linkLost, at: .seconds(20))
        _ = machine.wanted(.resume, at: .seconds(22))
        machine.linkUp()

        #expect(machine.nextWake == .seconds(60))
        let lostAgain = machine.channelClosed(.linkLost, at: .seconds(40))
        #expect(lostAgain == .none)
        #expect(machine.nextWake == .seconds(50))
    }

    /// An attempt that lasts beyond the grace is let finish.
    @Test func reconnect_thatFailsAfterTheGrace_releases() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.channelClosed(.linkLost, at: .seconds(20))
        _ = machine.wanted(.resume, at: .seconds(29))

        let during = machine.woke(at: .seconds(31), dice: 0)
        let failed = machine.channelClosed(.attemptFailed, at: .seconds(39))

        #expect(during == .none)
        #expect(failed == .sendRelease(1))
    }

    @Test func unwanted_closesTheChannelFirst() {
        var machine = LeaseMachine.held(.keep)

        let unwanted = machine.unwanted(at: .seconds(5))
        let closed = machine.channelClosed(.letGo, at: .seconds(6))

        #expect(unwanted == .withdraw(.unwanted))
        #expect(closed == .sendRelease(1))
    }

    // MARK: A cloud that is away (rule 4)

    @Test func unreachableCloud_allowsALinkWithoutALease_underKeep_afterTwoFailures() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        let first = machine.requestFailed(at: .seconds(1), dice: 0)
        _ = machine.woke(at: .seconds(2), dice: 0)
        let second = machine.requestFailed(at: .seconds(3), dice: 0)

        #expect(first == .none)
        #expect(second == .permitUnleased)
        #expect(machine.phase(at: .seconds(3)) == .unleased(nil))
    }

    @Test func unreachableCloud_allowsNothing_underStrict() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))
        for second in 1..<100 {
            let failed = machine.requestFailed(at: .seconds(Double(second)), dice: 0)
            #expect(failed == .none)
            _ = machine.woke(at: .seconds(Double(second) + 0.5), dice: 0)
        }
        #expect(machine.phase(at: .seconds(100)) == .requesting)
    }

    @Test func unreachableCloud_allowsNothing_whileAnotherHostMayHoldTheMeter() {
        var machine = LeaseMachine.refused(retryAfter: .seconds(100))
        var actions: [LeaseMachine.Action] = []
        var permittedAt: MonotonicTime?
        for second in 2..<200 {
            let now = MonotonicTime.seconds(Double(second))
            _ = machine.woke(at: now, dice: 0)
            let action = machine.requestFailed(at: now, dice: 0)
            actions.append(action)
            if action == .permitUnleased, permittedAt == nil { permittedAt = now }
        }

        #expect(permittedAt.map { $0 >= .seconds(101) } == true)
    }

    @Test func unleasedLink_becomesLeased_whenTheCloudReturns() {
        var machine = LeaseMachine.unleased()
        machine.cloudReached(at: .seconds(100), dice: 0)
        let asked = machine.woke(at: .seconds(100), dice: 0)
        let granted = machine.granted(.of(token: 1), sentAt: .seconds(100), at: .seconds(101), dice: 0)

        #expect(asked == .sendAcquire(again: true, isTakeover: false))
        #expect(granted == .permit(LeasePermit(token: 1, terms: .standard(.keep), sentAt: .seconds(100))))
    }

    @Test func unleasedLink_isAConflict_underKeep_andEnds_underStrict() {
        var kept = LeaseMachine.unleased()
        var strict = LeaseMachine.unleased()
        strict.policyChanged(.strict)

        let actions = (
            kept.refused(.held, .of(token: 2, holder: 2), retryAfter: .seconds(60), at: .seconds(10), dice: 0),
            strict.refused(.held, .of(token: 2, holder: 2), retryAfter: .seconds(60), at: .seconds(10), dice: 0)
        )

        #expect(actions == (.none, .withdraw(.takenOver)))
        #expect(kept.phase(at: .seconds(10)) == .unleased(.held))
    }

    @Test func linkThatIsUpAlready_stays_underKeep_andIsMadeAnew_underStrict() {
        var kept = LeaseMachine(host: .of(1), policy: .keep)
        var strict = LeaseMachine(host: .of(1), policy: .strict)

        let found = (kept.foundOpen(.resume, at: .seconds(0)), strict.foundOpen(.resume, at: .seconds(0)))
        let asked = kept.woke(at: .seconds(0), dice: 0)
        let closed = strict.channelClosed(.letGo, at: .seconds(0))

        #expect(found == (.permitUnleased, .withdraw(.unknown)))
        #expect(asked == .sendAcquire(again: false, isTakeover: false))
        #expect(closed == .none)
    }

    @Test func placeInTheQueue_isAskedForAgain_whenItCouldNotBeHad() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseWish(waitsInLine: true, isAsked: true), at: .seconds(0))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .seconds(10), at: .seconds(1), dice: 0)
        machine.queueLost()
        _ = machine.woke(at: .seconds(20), dice: 0)

        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(10), at: .seconds(21), dice: 0)

        #expect(refused == .joinQueue)
    }

    @Test func unleasedLink_needsNoRelease() {
        var machine = LeaseMachine.unleased()

        let unwanted = machine.unwanted(at: .seconds(10))
        let closed = machine.channelClosed(.letGo, at: .seconds(10))

        #expect(unwanted == .withdraw(.unwanted))
        #expect(closed == .none)
    }

    @Test(arguments: [LeaseRenewal.Loss.unknown, .released])
    func cloudThatForgot_isAskedAnew_underKeep_andEndsTheLink_underStrict(loss: LeaseRenewal.Loss) {
        var kept = LeaseMachine.held(.keep)
        var strict = LeaseMachine.held(.strict)

        let actions = (
            kept.renewalLost(loss, of: 1, nil, at: .seconds(60), dice: 0),
            strict.renewalLost(loss, of: 1, nil, at: .seconds(60), dice: 0)
        )
        let asked = kept.woke(at: .seconds(60), dice: 0)

        #expect(actions == (.permitUnleased, .withdraw(.unknown)))
        #expect(asked == .sendAcquire(again: false, isTakeover: false))
    }
}

extension LeaseView {
    /// A lease of host 1 unless another is named, as it was just granted.
    static func of(
        token: FencingToken, _ policy: LeasePolicy = .keep, state: State = .held, holder: UInt64 = 1,
        remaining: Duration = .seconds(120)
    ) -> LeaseView {
        LeaseView(
            meter: .meter, state: state, holder: .of(holder), holderName: "pi\(holder)", token: token,
            terms: .standard(policy), transport: .usb, acquiredAt: nil, remaining: remaining)
    }

    static func free(token: FencingToken) -> LeaseView {
        LeaseView(
            meter: .meter, state: .free, holder: nil, holderName: nil, token: token, terms: .standard(.keep),
            transport: nil, acquiredAt: nil, remaining: .zero)
    }
}

extension LeaseMachine {
    /// Holds token 1, asked for and granted at 0, with a permit out.
    static func held(_ policy: LeasePolicy, dice: UInt64 = 0) -> LeaseMachine {
        var machine = LeaseMachine(host: .of(1), policy: policy)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.granted(.of(token: 1, policy), sentAt: .seconds(0), at: .seconds(0), dice: dice)
        return machine
    }

    /// Was refused at 1 s: host 2 has it.
    static func refused(retryAfter: Duration = .seconds(130)) -> LeaseMachine {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: retryAfter, at: .seconds(1), dice: 200)
        return machine
    }

    /// Uses a link without a lease since 3 s.
    static func unleased() -> LeaseMachine {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(1), dice: 0)
        _ = machine.woke(at: .seconds(2), dice: 0)
        _ = machine.requestFailed(at: .seconds(3), dice: 0)
        return machine
    }

    /// Wakes it as a driver does, and says what it wanted done. A heartbeat fails at once.
    mutating func wokeUntilQuiet(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for _ in 0..<10 {
            guard let nextWake, nextWake <= now else { break }
            let action = woke(at: now, dice: 0)
            if action == .sendRenewal {
                _ = joinRenewal(at: now, dice: 0)
                _ = renewalFailed(at: now)
            }
            if action != .none { actions.append(action) }
        }
        return actions
    }
}
