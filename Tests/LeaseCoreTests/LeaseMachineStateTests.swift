import Domain
import Testing

/// The holder's machine: what each answer does in each state, and what is forgotten when something ends.
struct LeaseMachineStateTests {
    /// Holds token 2, asked for and granted at 0.
    private func held(_ policy: LeasePolicy = .keep) -> LeaseMachine {
        var machine = LeaseMachine(host: .of(1), policy: policy)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.granted(.of(token: 2, policy), sentAt: .seconds(0), at: .seconds(0), random: 100)
        return machine
    }

    private func permit(_ token: FencingToken, sentAt seconds: Double, _ policy: LeasePolicy = .keep)
        -> LeaseMachine.Action
    {
        .permit(LeasePermit(token: token, terms: .standard(policy), sentAt: .seconds(seconds)))
    }

    // MARK: Whether the cloud answers

    /// Two requests of any kind without an answer make it unreachable, and any answer makes it reachable.
    @Test func anyAnswer_makesTheCloudReachable_andTwoFailuresOfAnyKindDoNot() {
        var granted = LeaseMachine.unleased()
        #expect(granted.isCloudUnreachable)
        _ = granted.granted(.of(token: 1), sentAt: .seconds(4), at: .seconds(5), random: 0)
        #expect(!granted.isCloudUnreachable)

        var silent = held()
        for second in [61.0, 66] {
            #expect(!silent.isCloudUnreachable)
            _ = silent.joinRenewal(at: .seconds(second), random: 0)
            _ = silent.renewalFailed(at: .seconds(second))
        }
        #expect(silent.isCloudUnreachable)
        var (renewed, lost) = (silent, silent)
        _ = renewed.renewed(.of(token: 2), sentAt: .seconds(70), at: .seconds(71), random: 0)
        _ = lost.renewalLost(.revoking, of: 2, nil, at: .seconds(71), random: 0)
        #expect(!renewed.isCloudUnreachable && !lost.isCloudUnreachable)

        var released = held()
        _ = released.channelClosed(.letGo, at: .seconds(1))
        for second in [2.0, 10] {
            #expect(!released.isCloudUnreachable)
            _ = released.releaseFailed(2, at: .seconds(second), random: 200)
            // Told after it counted as one.
            _ = released.releaseFailed(2, at: .seconds(second), random: 200)
            #expect(released.woke(at: .seconds(second + 5), random: 0) == .sendRelease(2))
        }
        #expect(released.isCloudUnreachable)
        _ = released.released(2, at: .seconds(20))
        #expect(!released.isCloudUnreachable)
    }

    /// Whatever tells of a lease tells of its token, and none is forgotten for a smaller one.
    @Test func greatestToken_isThatOfAnythingHeard() {
        var machine = held()
        #expect(machine.greatestToken == 2)
        _ = machine.leaseSeen(.of(token: 3, holder: 1), at: .seconds(1), random: 0)
        #expect(machine.greatestToken == 3)
        _ = machine.leaseSeen(.of(token: 1, holder: 1), at: .seconds(1), random: 0)
        #expect(machine.greatestToken == 3)
        _ = machine.renewalLost(.unknown, of: 9, .of(token: 4, holder: 2), at: .seconds(2), random: 0)
        #expect(machine.greatestToken == 4)
        _ = machine.refused(.held, .of(token: 5, holder: 2), retryAfter: nil, at: .seconds(3), random: 0)
        #expect(machine.greatestToken == 5)
        #expect(LeaseMachine(host: .of(1), policy: .keep, greatestToken: 8).greatestToken == 8)
    }

    // MARK: Who has the meter

    /// Another host had it for up to a hundred seconds more. Until then nobody goes on without a lease, unless it is
    /// heard meanwhile that the meter is here or free.
    @Test(arguments: [nil, "offered", "granted", "free"])
    func meterElsewhere_isForgotten_onceItIsHere(word: String?) {
        var machine = LeaseMachine.refused(retryAfter: .seconds(100))
        switch word {
        case "offered": _ = machine.offered(at: .seconds(2))
        case "free": _ = machine.leaseSeen(.free(token: 4), at: .seconds(2), random: 0)
        case "granted":
            _ = machine.granted(.of(token: 5), sentAt: .seconds(1), at: .seconds(2), random: 0)
            _ = machine.channelClosed(.letGo, at: .seconds(3))
            _ = machine.released(5, at: .seconds(3))
            _ = machine.wanted(.resume, at: .seconds(3))
        default: break
        }
        var isUnleased = false
        for second in 4..<60 where !isUnleased {
            _ = machine.woke(at: .seconds(Double(second)), random: 0)
            isUnleased = machine.requestFailed(at: .seconds(Double(second)), random: 0) == .permitUnleased
        }
        #expect(isUnleased == (word != nil))
    }

    /// The longest wait that an answer may ask for is an hour; without one it is ten seconds.
    @Test func refusal_asksForAnHourAtMost() {
        var machine = LeaseMachine.refused(retryAfter: .seconds(100_000))
        _ = machine.woke(at: .seconds(100), random: 0)
        _ = machine.requestFailed(at: .seconds(101), random: 0)
        for (second, action) in [(3600.9, LeaseMachine.Action.none), (3601, .permitUnleased)] {
            var machine = machine
            _ = machine.woke(at: .seconds(3600), random: 0)
            #expect(machine.requestFailed(at: .seconds(second), random: 0) == action, "\(second)")
        }
        var unsaid = LeaseMachine(host: .of(1), policy: .keep)
        _ = unsaid.wanted(.resume, at: .seconds(0))
        _ = unsaid.refused(.held, nil, retryAfter: nil, at: .seconds(1), random: 200)
        #expect(unsaid.nextWake == .seconds(11))
    }

    /// Of a host that uses leases: the lock-delay has to pass even where the lease is over.
    @Test func expiredLease_isAnothers_untilItsLockDelayIsOver() {
        for (second, action) in [(14.9, LeaseMachine.Action.none), (15, .permitUnleased)] {
            var machine = LeaseMachine(host: .of(1), policy: .keep)
            let expired = LeaseView.of(token: 3, state: .expired, holder: 2, remaining: .zero)
            _ = machine.leaseSeen(expired, at: .seconds(0), random: 0)
            _ = machine.wanted(.resume, at: .seconds(0))
            _ = machine.requestFailed(at: .seconds(1), random: 0)
            _ = machine.woke(at: .seconds(10), random: 0)
            #expect(machine.requestFailed(at: .seconds(second), random: 0) == action, "\(second)")
        }
    }

    // MARK: Grants and renewals

    /// The answer to a repeated request is news where that was sent later, of the same lease or a later one.
    @Test func grantOfTheLeaseInUse_countsFromItsOwnRequest() {
        var machine = held()
        #expect(machine.granted(.of(token: 2), sentAt: .seconds(0), at: .seconds(5), random: 100) == .none)
        #expect(machine.granted(.of(token: 1), sentAt: .seconds(4), at: .seconds(5), random: 100) == .none)
        #expect(machine.permit?.sentAt == .seconds(0) && machine.permit?.token == 2)
        #expect(
            machine.granted(.of(token: 2), sentAt: .seconds(4), at: .seconds(5), random: 100) == permit(2, sentAt: 4))
        #expect(machine.nextWake == .seconds(64))
        // While its link is lost, it is kept and used by nobody.
        _ = machine.channelClosed(.linkLost, at: .seconds(6))
        #expect(machine.granted(.of(token: 2), sentAt: .seconds(6), at: .seconds(7), random: 100) == .none)
        #expect(machine.permit?.sentAt == .seconds(6))
        #expect(machine.renewed(.of(token: 2), sentAt: .seconds(8), at: .seconds(9), random: 100) == .none)
        #expect(machine.permit?.sentAt == .seconds(8))
        #expect(machine.wanted(.resume, at: .seconds(9)) == permit(2, sentAt: 8))
    }

    @Test func renewalOfAnotherLease_isNoneOfThisOne() {
        var machine = held()
        for token: FencingToken in [1, 3] {
            #expect(machine.renewed(.of(token: token), sentAt: .seconds(4), at: .seconds(5), random: 0) == .none)
            #expect(machine.permit?.token == 2 && machine.permit?.sentAt == .seconds(0))
            for loss in [LeaseRenewal.Loss.takenOver, .revoking, .released, .unknown] {
                #expect(machine.renewalLost(loss, of: token, nil, at: .seconds(5), random: 0) == .none)
                #expect(machine.phase(at: .seconds(5)) == .held)
            }
        }
    }

    /// However a renewal under way ends, the release need not wait for it any more, and once only.
    @Test(arguments: ["renewed", "failed", "lost", "other", "while stopping"])
    func release_isSentAtOnce_onceTheRenewalHasEnded(end: String) {
        var machine = held(.strict)
        #expect(machine.joinRenewal(at: .seconds(60), random: 0) == 2)
        switch end {
        case "renewed": _ = machine.renewed(.of(token: 2, .strict), sentAt: .seconds(60), at: .seconds(61), random: 0)
        case "failed": _ = machine.renewalFailed(at: .seconds(61))
        case "lost": _ = machine.renewalLost(.revoking, of: 2, nil, at: .seconds(61), random: 0)
        case "while stopping":
            _ = machine.unwanted(at: .seconds(61))
            _ = machine.renewed(.of(token: 2, .strict), sentAt: .seconds(60), at: .seconds(61), random: 0)
        default: _ = machine.renewed(.of(token: 1, .strict), sentAt: .seconds(60), at: .seconds(61), random: 0)
        }
        // What was answered for another lease was not this one's renewal.
        #expect(machine.channelClosed(.letGo, at: .seconds(62)) == (end == "other" ? .none : .sendRelease(2)))
        _ = machine.renewalFailed(at: .seconds(63))
        #expect(machine.phase(at: .seconds(63)) == .releasing)
    }

    /// Until the renewal is answered nobody knows whether it or the release comes last.
    @Test func grantWhileTheChannelCloses_doesNotEndTheRenewalUnderWay() {
        var machine = held()
        _ = machine.joinRenewal(at: .seconds(60), random: 0)
        _ = machine.unwanted(at: .seconds(61))
        _ = machine.granted(.of(token: 2), sentAt: .seconds(60), at: .seconds(61), random: 0)
        #expect(machine.channelClosed(.letGo, at: .seconds(62)) == .none)
        #expect(machine.renewalFailed(at: .seconds(63)) == .sendRelease(2))
    }

    /// Whatever the random number, a heartbeat is due between 0.9 times half the time to live and that.
    @Test func heartbeat_isNeverLate_whateverTheRandomNumber() {
        for random in UInt64(0)...1000 {
            let machine = LeaseMachine.held(.keep, random: random)
            #expect(machine.nextWake.map { $0 >= .seconds(54) && $0 <= .seconds(60) } == true, "\(random)")
        }
    }

    // MARK: The channel

    /// The link had come up, so what fails now is none of the attempts that the lease was kept for.
    @Test func linkThatCameUp_endsTheTimeInWhichAttemptsMayFail() {
        for isUp in [false, true] {
            var lost = held()
            _ = lost.channelClosed(.linkLost, at: .seconds(20))
            _ = lost.wanted(.resume, at: .seconds(21))
            if isUp { lost.linkUp() }
            #expect(lost.channelClosed(.attemptFailed, at: .seconds(22)) == (isUp ? .sendRelease(2) : .none))

            var taken = LeaseMachine(host: .of(1), policy: .keep)
            _ = taken.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
            _ = taken.granted(.of(token: 2), sentAt: .seconds(0), at: .seconds(0), random: 0)
            if isUp { taken.linkUp() }
            #expect(taken.channelClosed(.attemptFailed, at: .seconds(1)) == (isUp ? .sendRelease(2) : .none))
        }
    }

    /// A host that lets go means it, even while the lease would be kept for a reconnect.
    @Test func lettingGo_isNeverWaitedFor() {
        var machine = held()
        _ = machine.channelClosed(.linkLost, at: .seconds(20))
        _ = machine.wanted(.resume, at: .seconds(21))
        #expect(machine.channelClosed(.letGo, at: .seconds(22)) == .sendRelease(2))
    }

    @Test func channelThatIsClosedAlready_staysKept() {
        var machine = held()
        _ = machine.channelClosed(.linkLost, at: .seconds(20))
        for end in [ChannelEnd.attemptFailed, .linkLost, .letGo] {
            #expect(machine.channelClosed(end, at: .seconds(25)) == .none)
            machine.linkUp()
        }
        #expect(machine.nextWake == .seconds(30))
    }

    @Test func linkWithoutALease_isOver_whenItCloses() {
        for end in [ChannelEnd.attemptFailed, .linkLost, .letGo] {
            var machine = LeaseMachine.unleased()
            #expect(machine.channelClosed(end, at: .seconds(4)) == .none)
            #expect(machine.phase(at: .seconds(4)) == .none && machine.nextWake == nil)
        }
    }

    /// At its hard stop a lease permits nothing more; one whose link is lost is given back, and asked for anew.
    @Test func leaseAtItsHardStop_isNotUsedAgain() {
        var open = held()
        #expect(open.wanted(.resume, at: .seconds(107.9)) == permit(2, sentAt: 0))
        #expect(open.wanted(.resume, at: .seconds(108)) == .none)

        var closed = held()
        _ = closed.channelClosed(.linkLost, at: .seconds(107))
        #expect(closed.wanted(.resume, at: .seconds(108)) == .sendRelease(2))
        #expect(closed.released(2, at: .seconds(109)) == .sendAcquire(again: false, takeover: nil))
    }

    /// A lease that is lost while its link is lost too leaves no channel to close, under either policy.
    @Test(arguments: LeasePolicy.allCases, [LeaseRenewal.Loss.takenOver, .released, .unknown])
    func lossWithoutALink_leavesNothing(policy: LeasePolicy, loss: LeaseRenewal.Loss) {
        for second in [25.0, 110] {
            var machine = held(policy)
            _ = machine.channelClosed(.linkLost, at: .seconds(second - 5))
            let lost = machine.renewalLost(loss, of: 2, .of(token: 3, holder: 2), at: .seconds(second), random: 0)
            #expect(lost == .none)
            #expect(machine.phase(at: .seconds(second)) == .none && machine.nextWake == nil)
        }
    }

    // MARK: Pauses

    /// Who lost the meter to somebody's wish asks half a minute later, or once the other has given it back, or at once
    /// where a person asks; and that ends the pause for good.
    @Test func pauseAfterATakeover_endsByTimeByNewsOrByAPerson() {
        var paused = held()
        _ = paused.leaseSeen(.of(token: 3, holder: 2), at: .seconds(5), random: 0)
        _ = paused.channelClosed(.letGo, at: .seconds(6))
        #expect(paused.wanted(.resume, at: .seconds(7)) == .none)
        #expect(paused.nextWake == .seconds(35))
        // A stream that opens again is no reason to ask before.
        paused.cloudReached(at: .seconds(8), random: 0)
        #expect(paused.nextWake == .seconds(35))

        var freed = paused
        _ = freed.leaseSeen(.free(token: 3), at: .seconds(9), random: 500)
        #expect(freed.nextWake == .seconds(9.25))

        var asked = paused
        #expect(
            asked.wanted(LeaseIntent(isAsked: true), at: .seconds(9)) == .sendAcquire(again: false, takeover: nil))
        _ = asked.unwanted(at: .seconds(10))
        var idle = paused
        _ = idle.unwanted(at: .seconds(10))
        #expect(idle.wanted(.resume, at: .seconds(11)) == .none)
        _ = idle.unwanted(at: .seconds(12))
        #expect(
            idle.wanted(LeaseIntent(isAsked: true), at: .seconds(12)) == .sendAcquire(again: false, takeover: nil))
        _ = idle.unwanted(at: .seconds(13))
        #expect(idle.wanted(.resume, at: .seconds(14)) == .sendAcquire(again: false, takeover: nil))
    }

    // MARK: Requests

    /// A request that was never sent is not repeated: the lease that came was another's answer.
    @Test func firstRequest_isNew_evenAfterAGrantThatCameTooLate() {
        var machine = held()
        _ = machine.channelClosed(.letGo, at: .seconds(1))
        _ = machine.wanted(.resume, at: .seconds(2))
        let late = machine.granted(.of(token: 3), sentAt: .seconds(0), at: .seconds(200), random: 0)
        #expect(late == .sendAcquire(again: false, takeover: nil))
    }

    /// One who insists asks another thing, so the authority must not answer what it was asked before.
    @Test func requestWithAnotherTarget_isNew() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(1), random: 0)
        let takeover = LeaseIntent(isTakeover: true, aimedAt: 7, isAsked: true)
        #expect(machine.wanted(takeover, at: .seconds(1)) == .sendAcquire(again: false, takeover: 7))
        _ = machine.requestFailed(at: .seconds(2), random: 0)
        #expect(machine.woke(at: .seconds(5), random: 0) == .sendAcquire(again: true, takeover: 7))
    }

    /// A person who presses again while the request is under way causes no second one, and is who waits then.
    @Test(arguments: [false, true]) func personWhoPressesAgain_isWhoWaits(isInFlight: Bool) {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        if !isInFlight {
            _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: nil, at: .seconds(1), random: 0)
        }
        let pressed = machine.wanted(LeaseIntent(waitsInLine: true, isAsked: true), at: .seconds(2))
        #expect(pressed == (isInFlight ? .none : .sendAcquire(again: false, takeover: nil)))
        // What resumes by itself is nobody's word.
        #expect(machine.wanted(.resume, at: .seconds(2)) == .none)
        let refused = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: nil, at: .seconds(3), random: 0)
        #expect(refused == .joinQueue)
    }

    /// Only who has the meter, or will have it before, is waited for; and a place that one has is not asked for again.
    @Test(arguments: [
        (LeaseAnswer.Refusal.Reason.held, true), (.revoking, true), (.reserved, true), (.restoring, false),
        (.released, false), (.exhausted, false),
    ])
    func queue_isJoined_whereSomebodyHasTheMeter(reason: LeaseAnswer.Refusal.Reason, joins: Bool) {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(waitsInLine: true, isAsked: true), at: .seconds(0))
        let view = LeaseView.of(token: 4, holder: 2)
        #expect(
            machine.refused(reason, view, retryAfter: nil, at: .seconds(1), random: 0) == (joins ? .joinQueue : .none))
        _ = machine.woke(at: .seconds(40), random: 0)
        #expect(
            machine.refused(.held, view, retryAfter: nil, at: .seconds(41), random: 0) == (joins ? .none : .joinQueue))
        // It was called up, and somebody was quicker.
        #expect(machine.offered(at: .seconds(42)) == .sendAcquire(again: false, takeover: nil))
        #expect(machine.offered(at: .seconds(42)) == .none, "one request at a time")
        #expect(machine.refused(.held, view, retryAfter: nil, at: .seconds(43), random: 0) == .joinQueue)
    }

    // MARK: Taking over

    @Test func aim_isKeptForHalfAMinute_whileTheCloudIsSilent() {
        for (second, target) in [(29.9, FencingToken(7)), (30, nil)] as [(Double, FencingToken?)] {
            var machine = LeaseMachine(host: .of(1), policy: .strict)
            _ = machine.wanted(LeaseIntent(isTakeover: true, aimedAt: 7, isAsked: true), at: .seconds(0))
            _ = machine.requestFailed(at: .seconds(1), random: 0)
            guard case .sendAcquire(_, let asked) = machine.woke(at: .seconds(second), random: 0) else {
                Issue.record("nothing is asked")
                continue
            }
            #expect(asked == target, "\(second)")
        }
    }

    /// After the answer to a take-over no later request is one, though its half minute is not over.
    @Test func refusedTakeover_isNotRepeated() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
        let view = LeaseView.of(token: 4, holder: 2)
        let insists = machine.refused(.held, view, retryAfter: nil, at: .seconds(1), random: 0)
        #expect(insists == .sendAcquire(again: false, takeover: 4))
        #expect(machine.refused(.held, view, retryAfter: nil, at: .seconds(2), random: 0) == .none)
        #expect(machine.woke(at: .seconds(15), random: 0) == .sendAcquire(again: false, takeover: nil))
        #expect(machine.refused(.held, view, retryAfter: nil, at: .seconds(16), random: 0) == .none)
    }

    /// Of a link that was found open a person may insist too.
    @Test func takeoverOfALinkThatWasFoundOpen_goesOn() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.foundOpen(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        let refused = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: nil, at: .seconds(1), random: 0)
        #expect(refused == .sendAcquire(again: false, takeover: 4))
    }

    /// Whoever uses the meter without a lease has what they wanted: no wish is left for when the cloud is back.
    @Test(arguments: ["before", "while unleased", "only looks"])
    func wishToTakeOver_endsWithALinkWithoutALease(order: String) {
        let takeover = LeaseIntent(isTakeover: true, aimedAt: 3, isAsked: true)
        var machine = LeaseMachine.unleased()
        switch order {
        case "before":
            _ = machine.channelClosed(.linkLost, at: .seconds(3))
            #expect(machine.wanted(takeover, at: .seconds(4)) == .permitUnleased)
        case "while unleased": #expect(machine.wanted(takeover, at: .seconds(4)) == .permitUnleased)
        default:
            machine = LeaseMachine(host: .of(1), policy: .strict, role: .readOnly)
            #expect(machine.wanted(takeover, at: .seconds(4)) == .bar)
            #expect(machine.roleIs(.full, at: .seconds(5)) == .sendAcquire(again: false, takeover: nil))
        }
        if order != "only looks" {
            machine.cloudReached(at: .seconds(5), random: 0)
            guard case .sendAcquire(_, nil) = machine.woke(at: .seconds(6), random: 0) else {
                Issue.record("it takes over, or asks for nothing")
                return
            }
        }
        let refused = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: nil, at: .seconds(7), random: 0)
        #expect(refused == .none)
    }

    // MARK: Roles

    /// What a host had asked for before it might only look is over: it asks anew, and has no place in a queue.
    @Test func hostThatMayAskAgain_beginsAnew() {
        let waiting = LeaseIntent(waitsInLine: true, isAsked: true)
        var asking = LeaseMachine(host: .of(1), policy: .strict)
        _ = asking.wanted(waiting, at: .seconds(0))
        _ = asking.requestFailed(at: .seconds(1), random: 0)
        #expect(asking.roleIs(.readOnly, at: .seconds(2)) == .bar)
        #expect(asking.roleIs(.readOnly, at: .seconds(2)) == .none)
        #expect(asking.nextWake == .seconds(62))
        asking.cloudReached(at: .seconds(3), random: 0)
        #expect(asking.nextWake == .seconds(62))
        #expect(asking.roleIs(.full, at: .seconds(3)) == .sendAcquire(again: false, takeover: nil))

        var queued = LeaseMachine(host: .of(1), policy: .strict)
        _ = queued.wanted(waiting, at: .seconds(0))
        let view = LeaseView.of(token: 4, holder: 2)
        #expect(queued.refused(.held, view, retryAfter: nil, at: .seconds(1), random: 0) == .joinQueue)
        _ = queued.roleIs(.readOnly, at: .seconds(2))
        queued.cloudReached(at: .seconds(3), random: 0)
        #expect(queued.roleIs(.full, at: .seconds(4)) == .sendAcquire(again: false, takeover: nil))
        #expect(queued.refused(.held, view, retryAfter: nil, at: .seconds(5), random: 0) == .joinQueue)
    }
}
