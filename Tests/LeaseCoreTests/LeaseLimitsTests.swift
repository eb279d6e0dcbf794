import Testing

@testable import Domain

/// The numbers of Docs/Leases.md, and what stands at their ends.
struct LeaseLimitsTests {
    @Test func times_areThoseOfTheDocumentation() {
        #expect(LeaseTerms.standard == LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: .keep))
        #expect(LeaseTerms.timeToLiveRange == .seconds(30) ... .seconds(600))
        #expect(LeaseTiming.renewalRetry == .seconds(5) && LeaseTiming.lostRetry == .seconds(30))
        #expect(LeaseTiming.answerTimeout == .seconds(5) && LeaseTiming.releasePatience == .seconds(3))
        #expect(LeaseTiming.acquireRetry == .seconds(1) ... .seconds(60))
        #expect(LeaseTiming.refusedRetry == .milliseconds(500) ... .seconds(30))
        #expect(LeaseTiming.soonFreeRetry == .seconds(3) && LeaseTiming.barredLook == .seconds(60))
        #expect(LeaseTiming.reconnectGrace == .seconds(10) && LeaseTiming.pauseAfterRevocation == .seconds(30))
        #expect(LeaseTiming.searchTime == .seconds(30) && LeaseTiming.takeoverIntent == .seconds(30))
        #expect(LeaseTiming.repetitionAge == .seconds(30) && LeaseTiming.unreachableAfter == 2)
        #expect(LeaseRules.reservation == .seconds(10) && LeaseRecord.grantsMax == 8)
        // The greatest whole number that JSON's readers keep exactly, and half of it for what hosts claim.
        #expect(FencingToken.max.rawValue == 9_007_199_254_740_991)
        #expect(FencingToken.claimMax.rawValue == 4_503_599_627_370_496)
    }

    /// A fifth more or less, up to the whole span, and from nine tenths on: each with its ends.
    @Test func randomTimes_reachTheirEndsAndNoFurther() {
        let second = Duration.seconds(1)
        for (random, spread, within) in [
            (0, 800, 0), (200, 1000, 200), (400, 1200, 400), (401, 800, 401), (999, 997, 999), (1000, 998, 0),
        ] {
            #expect(LeaseTiming.spread(second, UInt64(random)) == .milliseconds(spread), "\(random)")
            #expect(LeaseTiming.within(second, UInt64(random)) == .milliseconds(within), "\(random)")
        }
        for (random, heartbeat) in [(0, 54_000), (100, 60_000), (101, 54_000), (201, 60_000)] {
            #expect(LeaseTiming.heartbeat(of: .standard, UInt64(random)) == .milliseconds(heartbeat), "\(random)")
        }
        for (failures, seconds) in [(0, 1), (1, 1), (2, 2), (6, 32), (7, 60), (1000, 60)] {
            #expect(LeaseTiming.acquireRetry(afterFailures: failures, 200) == .seconds(seconds), "\(failures)")
        }
    }

    @Test func permit_countsFromItsRequest() {
        let permit = LeasePermit(token: 1, terms: .standard, sentAt: .seconds(1000))
        #expect((permit.jeopardyAt, permit.hardStopAt) == (.seconds(1080), .seconds(1108)))
        #expect((permit.expiresAt, LeaseTerms.standard.over) == (.seconds(1120), .seconds(135)))
    }

    @Test func terms_becomeStricterOnly() {
        for own in LeasePolicy.allCases {
            for other in LeasePolicy.allCases {
                let strict = own == .strict || other == .strict
                #expect(own.stricter(other) == (strict ? .strict : .keep))
                #expect(LeaseTerms.standard(own).under(other) == .standard(strict ? .strict : .keep))
            }
        }
    }

    /// A view is of a lease that runs until its last moment, and not in it.
    @Test func view_isExpired_fromTheEndOfItsTime() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))
        guard let record = authority.record else {
            Issue.record("nothing was granted")
            return
        }
        for (second, state) in [(119.999, LeaseView.State.held), (120, .expired)] {
            #expect(LeaseView(record, of: .meter, at: .seconds(second)).state == state)
        }
        #expect(LeaseView(record, of: .meter, at: .seconds(0)).isOldHolderTold)
        #expect(record.untilOver(at: .seconds(134)) == .seconds(1) && record.untilOver(at: .seconds(136)) == .zero)
        #expect(!record.isOver(at: .seconds(134.999)) && record.isOver(at: .seconds(135)))
        _ = authority.revoke()
        #expect(authority.record.map { LeaseView($0, of: .meter, at: .seconds(500)).state } == .revoking)
        _ = authority.release(1, session: 1)
        #expect(authority.record?.untilOver(at: .seconds(1)) == .zero)
        #expect(authority.record?.remaining(at: .seconds(1)) == .zero)
        #expect(authority.record?.isOver(at: .seconds(500)) == false, "what is free is not over")
    }

    /// Only who has the meter is taken it from; any other refusal ends the wish.
    @Test(arguments: [
        (LeaseAnswer.Refusal.Reason.held, true), (.revoking, true), (.reserved, false), (.restoring, false),
        (.released, false), (.exhausted, false),
    ])
    func intent_goesOn_whereSomebodyHasTheMeter(reason: LeaseAnswer.Refusal.Reason, goesOn: Bool) throws {
        let view = LeaseView.of(token: 7, holder: 2)
        var intent = try #require(TakeoverIntent(LeaseIntent(isTakeover: true), at: .origin))
        #expect(intent.refused(reason, view, asked: nil, at: .seconds(1)) == goesOn)
        var blind = try #require(TakeoverIntent(LeaseIntent(isTakeover: true), at: .origin))
        #expect(blind.refused(reason, nil, asked: nil, at: .seconds(1)) == false, "nobody is named")
        #expect(blind.target == nil)
    }

    // MARK: The authority

    /// Each request that was granted is answered alike for ever, also one that only prolonged what its run had.
    @Test func requestThatProlonged_isRemembered() {
        var authority = Authority()
        _ = authority.acquire(.of(1, request: 1), at: .seconds(0))
        _ = authority.acquire(.of(1, request: 2), at: .seconds(1))
        _ = authority.release(1, session: 1)
        for request in [UInt64(1), 2] {
            #expect(authority.acquire(.of(1, request: request), at: .seconds(2)).refusal?.reason == .released)
        }
    }

    /// A refusal shows who has the meter, and nobody where it is free.
    @Test func refusal_showsAHolder_whereThereIsOne() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))
        authority.circumstances.reservedFor = .of(3)
        #expect(authority.acquire(.of(2), at: .seconds(200)).refusal?.record?.holder?.host == .of(1))
        _ = authority.release(1, session: 1)
        let free = authority.acquire(.of(2), at: .seconds(201)).refusal
        #expect(free?.reason == .reserved && free?.record == nil)
    }

    /// A reservation is for a free meter: a restarted holder gets its own back, revoked or not.
    @Test func restartedHolder_heedsNoReservation_beforeItsLeaseIsOver() {
        for isRevoked in [false, true] {
            var authority = Authority(.strict)
            _ = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(0))
            if isRevoked { _ = authority.revoke() }
            authority.circumstances.reservedFor = .of(3)
            let restarted = authority.acquire(.of(1, session: 11, request: 2, previous: 10), at: .seconds(134))
            #expect(restarted.token == 2)
        }
        var late = Authority(.strict)
        _ = late.acquire(.of(1, session: 10, request: 1), at: .seconds(0))
        late.circumstances.reservedFor = .of(3)
        let refused = late.acquire(.of(1, session: 11, request: 2, previous: 10), at: .seconds(135))
        #expect(refused.refusal?.reason == .reserved)
    }

    /// After a restore nothing changes hands, not even by a restart.
    @Test func revokedLease_staysRevoked_whileTheAuthorityRestores() {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(0))
        _ = authority.revoke()
        authority.circumstances.nextInQueue = .of(2)
        authority.circumstances.grantsNothingNewBefore = .seconds(1000)
        let restarted = authority.acquire(.of(1, session: 11, request: 2, previous: 10), at: .seconds(10))
        #expect((restarted.refusal?.reason, authority.record?.holder?.host) == (.restoring, .of(1)))
    }

    /// A meter that never had a second id has no floor and no former tokens.
    @Test func leaseWithoutAnAlias_isAnOrdinaryOne() {
        let circumstances = LeaseCircumstances(
            now: .seconds(1), wallNow: WallTime(millisecondsSince1970: 0), terms: .standard)
        #expect(circumstances.grantsAbove == 0 && circumstances.tokenFloor == 0)
        let free = LeaseSnapshot(meter: "meter", record: nil)
        let decision = LeaseRules.acquire(.of(1), of: free, in: circumstances)
        #expect(decision.answer.token == 1)
        let held = LeaseSnapshot(meter: "meter", record: decision.record)
        #expect(LeaseRules.renew(1, session: .of(1), of: held, under: .keep, at: .seconds(2)).answer.loss == nil)
        #expect(LeaseRules.release(1, session: .of(1), of: held).record?.state == .free)
        var repeated = held
        repeated.alias = LeaseSnapshot.Alias(tokensBefore: 0, record: decision.record)
        _ = LeaseRules.release(1, session: .of(1), of: held)
        repeated.record = LeaseRules.release(1, session: .of(1), of: held).record
        let released = LeaseRules.acquire(.of(1), of: repeated, in: circumstances).answer.refusal
        #expect(released?.reason == .released && released?.retryAfter == .zero)
    }
}
