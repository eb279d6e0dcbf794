import Domain
import Testing

/// The holder's machine: words that come late or twice, and what has to begin anew when something begins again.
struct LeaseMachineOrderTests {
    // MARK: The second episode

    /// An answer that never came is asked for by the same request; one that was refused is over.
    @Test func requestAfterARefusal_isANewOne() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(1), random: 0)
        let repeated = machine.wokeUntilQuiet(at: .seconds(3))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .seconds(1), at: .seconds(3), random: 0)

        let next = machine.wokeUntilQuiet(at: .seconds(12))

        #expect(repeated.contains(.sendAcquire(again: true, takeover: nil)))
        #expect(next.contains(.sendAcquire(again: false, takeover: nil)))
    }

    /// Hosts of which one took over what ran out ask again within half a minute, not all at once.
    @Test func askingAfterAConflict_isSpreadOverHalfAMinute() throws {
        var machine = LeaseMachine.held(.keep)
        let time = try #require(machine.permit).hardStopAt

        _ = machine.renewalLost(.takenOver, of: 1, .of(token: 2, holder: 2), at: time, random: 999)

        #expect(machine.nextWake == time + .milliseconds(29_970))
    }

    @Test func release_thatFailed_isSentAgainSoon() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.channelClosed(.letGo, at: .seconds(1))

        let failed = machine.releaseFailed(1, at: .seconds(2), random: 200)

        #expect((failed, machine.nextWake) == (.none, .seconds(7)))
        #expect(machine.wokeUntilQuiet(at: .seconds(7)) == [.sendRelease(1)])
    }

    // MARK: Late words

    /// With short times, a grant may be too late to be used and young enough for the authority to remember its request.
    @Test func grantThatCameTooLate_isRepeated_whileTheAuthorityRemembers() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        var lease = LeaseView.of(token: 1, .strict)
        lease.terms = LeaseTerms(timeToLive: .seconds(30), lockDelay: .seconds(15), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))

        let late = machine.granted(lease, sentAt: .seconds(0), at: .seconds(29), random: 0)

        #expect(late == .sendAcquire(again: true, takeover: nil))
    }

    @Test func answerToAnEarlierRelease_doesNotEndALaterOne() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.granted(.of(token: 2), sentAt: .seconds(0), at: .seconds(0), random: 0)
        _ = machine.channelClosed(.letGo, at: .seconds(1))

        let earlier = machine.released(1, at: .seconds(2))
        let failed = machine.releaseFailed(1, at: .seconds(2), random: 0)

        #expect((earlier, failed) == (.none, .none))
        #expect((machine.phase(at: .seconds(2)), machine.nextWake) == (.releasing, .seconds(6)))
        _ = machine.released(2, at: .seconds(3))
        #expect(machine.phase(at: .seconds(3)) == .none)
    }

    /// A failure that is told after the time-out has counted as one already.
    @Test func failureOfARequest_countsOnce() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.woke(at: .seconds(5), random: 0)

        let told = machine.requestFailed(at: .seconds(5), random: 0)

        #expect((told, machine.isCloudUnreachable) == (.none, false))
    }

    @Test func newsOfTheLeaseItself_andOfEarlierOnes_changesNothing() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.granted(.of(token: 2), sentAt: .seconds(0), at: .seconds(0), random: 0)
        for (token, state, holder) in [
            (FencingToken(2), LeaseView.State.held, UInt64(1)), (1, .revoking, 1), (1, .held, 2), (3, .held, 1),
        ] {
            let seen = machine.leaseSeen(.of(token: token, state: state, holder: holder), at: .seconds(1), random: 0)
            #expect((seen, machine.phase(at: .seconds(1))) == (.none, .held))
        }
        #expect(machine.leaseSeen(.free(token: 1), at: .seconds(1), random: 0) == .none)
    }

    /// The reservation of somebody else does not make who waits ask.
    @Test func newsOfALeaseInUse_doesNotHastenWhoWaits() {
        var machine = LeaseMachine.refused()
        let before = machine.nextWake

        _ = machine.leaseSeen(.of(token: 5, holder: 3), at: .seconds(2), random: 0)
        #expect(machine.nextWake == before)

        _ = machine.leaseSeen(.free(token: 5), at: .seconds(2), random: 500)
        #expect(machine.nextWake == .seconds(2.25))
    }

    /// Two grants may be under way: the later one counts, in whichever order they come.
    @Test(arguments: [[FencingToken(1), 2], [2, 1]])
    func grantsWhileTheChannelCloses_leaveTheLaterOneToRelease(order: [FencingToken]) {
        var machine = LeaseMachine.held(.keep)
        _ = machine.unwanted(at: .seconds(1))
        for token in order {
            let granted = machine.granted(.of(token: token), sentAt: .seconds(1), at: .seconds(2), random: 0)
            #expect(granted == .none)
        }

        #expect(machine.channelClosed(.letGo, at: .seconds(3)) == .sendRelease(2))
    }

    /// The first token of all, which came too late to be used.
    @Test func grantWhileALinkWithoutALeaseCloses_isGivenBack() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.foundOpen(.resume, at: .seconds(0))
        _ = machine.granted(.of(token: 1), sentAt: .seconds(0), at: .seconds(1), random: 0)

        #expect(machine.channelClosed(.letGo, at: .seconds(2)) == .sendRelease(1))
    }

    @Test func grantOfAnotherToken_whileOneIsReleased_isUsed_ifTheMeterIsWantedAgain() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.channelClosed(.letGo, at: .seconds(1))
        _ = machine.wanted(.resume, at: .seconds(2))

        #expect(machine.granted(.of(token: 1), sentAt: .seconds(0), at: .seconds(3), random: 0) == .none)
        let later = machine.granted(.of(token: 2), sentAt: .seconds(2), at: .seconds(3), random: 0)

        #expect(later == .permit(LeasePermit(token: 2, terms: .standard(.keep), sentAt: .seconds(2))))
    }

    // MARK: What begins anew

    /// The person let go since: what resumes by itself takes the meter from nobody.
    @Test func wishToTakeOver_endsWithLettingGo() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
        _ = machine.unwanted(at: .seconds(1))
        _ = machine.wanted(.resume, at: .seconds(2))

        let refused = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: nil, at: .seconds(3), random: 0)

        #expect((refused, machine.phase(at: .seconds(3))) == (.none, .waiting(.held)))
    }

    @Test func wishToTakeOver_endsWithTheGrant() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
        _ = machine.granted(.of(token: 1), sentAt: .seconds(0), at: .seconds(0), random: 0)
        // Lost and wanted again within the time that the wish would have.
        _ = machine.channelClosed(.letGo, at: .seconds(1))
        _ = machine.released(1, at: .seconds(1))
        _ = machine.wanted(.resume, at: .seconds(2))

        let refused = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: nil, at: .seconds(3), random: 0)

        #expect(refused == .none)
    }

    @Test func cloudThatAnswersOnce_countsAsReachable_andItsFailuresBeginAnew() {
        var machine = LeaseMachine.unleased()
        #expect(machine.isCloudUnreachable)
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .zero, at: .seconds(4), random: 0)
        #expect(!machine.isCloudUnreachable)
        _ = machine.woke(at: .seconds(5), random: 0)
        _ = machine.requestFailed(at: .seconds(6), random: 0)
        #expect(!machine.isCloudUnreachable)
    }

    /// The link outlived its lease: the cloud is asked as soon as it is back, though none of its failures was told.
    @Test func lostLease_isRenewedSoon_whenTheCloudIsBack() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.joinRenewal(at: .seconds(54), random: 0)
        _ = machine.woke(at: .seconds(108), random: 0)
        _ = machine.joinRenewal(at: .seconds(108), random: 0)
        #expect(machine.nextWake == .seconds(132))

        machine.cloudReached(at: .seconds(110), random: 500)

        #expect(machine.nextWake == .seconds(110.5))
    }

    /// A heartbeat is due when it is due, however often the cloud comes and goes.
    @Test func leaseInForce_isNotRenewedSooner_whenTheCloudIsBack() {
        var machine = LeaseMachine.held(.keep)
        machine.cloudReached(at: .seconds(10), random: 500)
        #expect(machine.nextWake == .seconds(54))

        _ = machine.joinRenewal(at: .seconds(54), random: 0)
        for second in [55.0, 56] { _ = machine.renewalFailed(at: .seconds(second)) }
        machine.cloudReached(at: .seconds(57), random: 500)
        #expect(machine.nextWake == .seconds(57.5))
    }

    // MARK: A link without a lease

    @Test func linkWithoutALease_needsNoSecondPermit() {
        var machine = LeaseMachine.unleased()
        for intent in [LeaseIntent.resume, LeaseIntent(isAsked: true), LeaseIntent(isTakeover: true, isAsked: true)] {
            #expect(machine.wanted(intent, at: .seconds(4)) == .permitUnleased)
        }

        var found = LeaseMachine(host: .of(1), policy: .keep)
        _ = found.foundOpen(.resume, at: .seconds(0))
        #expect(found.wanted(LeaseIntent(isAsked: true), at: .seconds(1)) == .permitUnleased)
        let insisting = found.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(1))
        #expect(insisting == .sendAcquire(again: false, takeover: nil))
    }

    // MARK: Times

    /// Who was told lets go at once; who was not, with its next heartbeat.
    @Test func searchAfterAGrant_takesInTheOldHoldersHeartbeat() {
        var lease = LeaseView.of(token: 1)
        lease.isOldHolderTold = true
        #expect(LeaseTiming.searchTime(after: lease) == .seconds(30))
        lease.isOldHolderTold = false
        #expect(LeaseTiming.searchTime(after: lease) == .seconds(90))
    }

    /// Refused by someone who goes soon, it asks within seconds; otherwise within half a minute.
    @Test(arguments: [
        (LeaseAnswer.Refusal.Reason.revoking, 3.0), (.reserved, 3), (.released, 3), (.held, 30), (.restoring, 30),
        (.exhausted, 30),
    ])
    func refusal_isFollowedByARequest_withinItsLongestPause(reason: LeaseAnswer.Refusal.Reason, seconds: Double) {
        for (wait, random, pause) in [
            (3600.0, 200, seconds), (3600, 0, seconds * 0.8), (3600, 400, seconds * 1.2), (0, 200, 0.5),
        ] {
            var machine = LeaseMachine(host: .of(1), policy: .keep)
            _ = machine.wanted(.resume, at: .seconds(0))
            _ = machine.refused(
                reason, .of(token: 4, holder: 2), retryAfter: .milliseconds(Int(wait * 1000)), at: .seconds(1),
                random: UInt64(random))
            #expect(machine.nextWake == .seconds(1 + pause))
        }
    }

    /// Each failure doubles the pause, up to a minute, and an answer begins anew.
    @Test func unansweredRequests_areRepeatedEverMoreSeldom() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))
        var now = 0.0
        for pause in [1.0, 2, 4, 8, 16, 32, 60, 60] {
            _ = machine.requestFailed(at: .seconds(now), random: 200)
            #expect(machine.nextWake == .seconds(now + pause))
            now += pause
            _ = machine.woke(at: .seconds(now), random: 200)
        }
        _ = machine.requestFailed(retryAfter: .seconds(300), at: .seconds(now), random: 200)
        #expect(machine.nextWake == .seconds(now + 300))
        _ = machine.woke(at: .seconds(now + 300), random: 200)
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .zero, at: .seconds(now), random: 200)
        _ = machine.woke(at: .seconds(now + 1), random: 200)
        _ = machine.requestFailed(at: .seconds(now + 2), random: 200)
        #expect(machine.nextWake == .seconds(now + 3))
    }

    @Test func leaseThatRanOut_isSearchedForAgain_whenItsChannelIsClosedAlready() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.channelClosed(.linkLost, at: .seconds(107))

        #expect(machine.woke(at: .seconds(107.9), random: 0) == .sendRenewal)
        _ = machine.joinRenewal(at: .seconds(107.9), random: 0)
        _ = machine.renewalFailed(at: .seconds(107.9))
        // Without an open channel there is no link to keep.
        #expect(machine.woke(at: .seconds(108), random: 0) == .sendRelease(1))
    }
}
