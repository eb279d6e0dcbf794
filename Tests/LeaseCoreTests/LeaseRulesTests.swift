import Domain
import Testing

/// Who gets a meter (Docs/Leases.md#what-a-host-can-ask).
struct LeaseAcquireRuleTests {
    @Test func free_isGranted_withTheNextToken() {
        var authority = Authority()
        let first = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.release(1, session: 1)

        let second = authority.acquire(.of(2), at: .seconds(1))

        #expect([first, second].map(\.brief) == [.granted(1), .granted(2)])
        #expect(authority.record?.holder?.hostName == "pi2")
    }

    @Test func held_isRefused_withTheHolderAndTheTimeUntilOver() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))

        let answer = authority.acquire(.of(2), at: .seconds(30))

        #expect(
            answer == .refused(.init(reason: .held, record: authority.record, retryAfter: .seconds(105))))
        #expect(authority.record?.holder?.host == .of(1))
    }

    @Test func sameRequest_getsTheSameAnswer_whenItsAnswerWasLost() {
        var authority = Authority()
        let first = authority.acquire(.of(1, request: 7), at: .seconds(0))

        let again = authority.acquire(.of(1, request: 7), at: .seconds(5))

        #expect((again.token, authority.record?.renewedAt) == (first.token, .seconds(5)))
    }

    /// A repetition that comes after the release must not give the meter to somebody who does not know.
    @Test func sameRequest_isRefused_afterItWasReleased() {
        var authority = Authority()
        _ = authority.acquire(.of(1, request: 7), at: .seconds(0))
        _ = authority.release(1, session: 1)

        let late = authority.acquire(.of(1, request: 7), at: .seconds(5))
        let fresh = authority.acquire(.of(1, request: 8), at: .seconds(6))

        #expect([late, fresh].map(\.brief) == [.refused(.released), .granted(2)])
    }

    /// The same run has the meter again since: its earlier request is over all the same.
    @Test func sameRequest_isRefused_whenALaterOneWasGranted() {
        var authority = Authority()
        _ = authority.acquire(.of(1, request: 7), at: .seconds(0))
        _ = authority.release(1, session: 1)
        _ = authority.acquire(.of(1, request: 8), at: .seconds(1))

        let answers = [7, 8].map { authority.acquire(.of(1, request: $0), at: .seconds(2)).brief }
        #expect(answers == [.refused(.released), .granted(2)])
    }

    @Test func sameSession_renewsWithItsToken_whenItAsksAnew() {
        var authority = Authority()
        _ = authority.acquire(.of(1, request: 1), at: .seconds(0))

        let again = authority.acquire(.of(1, request: 2), at: .seconds(100))

        #expect((again.token, authority.record?.renewedAt) == (1, .seconds(100)))
    }

    /// The holder may still go by the longer time, so the authority must too.
    @Test func sameSession_keepsItsTimes_whenTheZoneShortensThem() {
        var authority = Authority()
        _ = authority.acquire(.of(1, request: 1), at: .seconds(0))
        authority.circumstances.terms = LeaseTerms(timeToLive: .seconds(30), lockDelay: .seconds(5), policy: .strict)

        let again = authority.acquire(.of(1, request: 2), at: .seconds(10))

        #expect((again.terms?.timeToLive, again.terms?.policy) == (.seconds(120), .strict))
    }

    @Test func anotherSessionOfTheHost_isRefused_unlessItNamesTheOneBefore() {
        var authority = Authority()
        _ = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(0))

        let unproven = authority.acquire(.of(1, session: 11, request: 2), at: .seconds(1))
        let proven = authority.acquire(.of(1, session: 11, request: 3, previous: 10), at: .seconds(2))

        #expect([unproven, proven].map(\.brief) == [.refused(.held), .granted(2)])
        #expect(authority.renew(1, session: 10, at: .seconds(3)).loss == .takenOver)
    }

    @Test func previousSession_ofAnotherHost_isWorthNothing() {
        var authority = Authority()
        _ = authority.acquire(.of(1, session: 10), at: .seconds(0))

        let answer = authority.acquire(.of(2, session: 20, previous: 10), at: .seconds(1))

        #expect(answer.refusal?.reason == .held)
    }

    @Test(arguments: [(134.9, false), (135.0, true)])
    func over_isAfterTimeToLiveAndLockDelay_sinceTheLastRenewal(after: Double, isGranted: Bool) {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.renew(1, session: 1, at: .seconds(60))

        let answer = authority.acquire(.of(2), at: .seconds(60 + after))

        #expect((answer.token == 2) == isGranted)
    }

    @Test func reserved_isRefused_unlessItIsForTheOneWhoAsks() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.release(1, session: 1)
        authority.circumstances.reservedFor = .of(3)

        let other = authority.acquire(.of(2), at: .seconds(1))
        let offered = authority.acquire(.of(3), at: .seconds(2))

        #expect([other, offered].map(\.brief) == [.refused(.reserved), .granted(2)])
        #expect(other.refusal?.retryAfter == LeaseRules.reservation)
    }

    @Test(arguments: [
        (LeasePolicy.keep, 60, LeasePolicy.strict, 60, LeasePolicy.strict), (.keep, 500, .keep, 120, .keep),
        (.strict, 120, .keep, 120, .strict),
    ])
    func terms_areTheZones_shorterAndStricterByWish(
        zone: LeasePolicy, wish: Int, policy: LeasePolicy, timeToLive: Int, granted: LeasePolicy
    ) {
        var authority = Authority(zone)
        let answer = authority.acquire(.of(1, timeToLive: .seconds(wish), policy: policy), at: .seconds(0))
        #expect(
            answer.terms == LeaseTerms(timeToLive: .seconds(timeToLive), lockDelay: .seconds(15), policy: granted))
    }
}

/// Take-over, revocation, release, renewal, restart and restore.
struct LeaseRuleTests {
    @Test func times_areClamped_theLockDelayToAnEighthAtLeast() {
        for (timeToLive, lockDelay, expected) in [
            (120, 1, (120, 15)), (120, 15, (120, 15)), (120, 60, (120, 60)), (120, 6000, (120, 600)),
            (1, 0, (30, 3.75)), (6000, 0, (600, 75)),
        ] as [(Int, Int, (Double, Double))] {
            let terms = LeaseTerms(timeToLive: .seconds(timeToLive), lockDelay: .seconds(lockDelay), policy: .keep)

            let clamped = (Duration.seconds(expected.0), Duration.seconds(expected.1))
            #expect((terms.timeToLive, terms.lockDelay) == clamped, "\(timeToLive) \(lockDelay)")
        }
    }

    /// A host that is strict for itself wants no second host at its meter, in a zone that keeps.
    @Test(arguments: [
        (LeasePolicy.keep, LeaseAnswer.Brief.granted(2), LeaseRenewal.Loss.takenOver),
        (.strict, .refused(.revoking), .revoking),
    ])
    func takeover_isGrantedAtOnce_underKeep(own: LeasePolicy, answer: LeaseAnswer.Brief, loss: LeaseRenewal.Loss) {
        var authority = Authority(.keep)
        _ = authority.acquire(.of(1, policy: own), at: .seconds(0))

        #expect(authority.acquire(.of(2, takeover: 1), at: .seconds(1)).brief == answer)
        #expect(authority.renew(1, session: 1, at: .seconds(2)).loss == loss)
    }

    @Test func takeover_revokes_underStrict_andIsGrantedAfterTheRelease() {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1), at: .seconds(0))

        let asked = authority.acquire(.of(2, takeover: 1), at: .seconds(10))
        let renewal = authority.renew(1, session: 1, at: .seconds(11))
        let tooEarly = authority.acquire(.of(2, request: 2), at: .seconds(12))
        _ = authority.release(1, session: 1)
        let granted = authority.acquire(.of(2, request: 3), at: .seconds(13))

        #expect([asked, tooEarly, granted].map(\.brief) == [.refused(.revoking), .refused(.revoking), .granted(2)])
        #expect((asked.refusal?.retryAfter, renewal.loss) == (.seconds(125), .revoking))
    }

    @Test func takeover_isGrantedAtTheLatest_afterLockDelay_whenTheHolderIsSilent() {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.acquire(.of(2, takeover: 1), at: .seconds(10))

        let answers = [134, 135].map { authority.acquire(.of(2, request: $0), at: .seconds(Double($0))).brief }
        #expect(answers == [.refused(.revoking), .granted(2)])
    }

    @Test func revoked_cannotAskAgain_untilItIsOver() {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1, request: 1), at: .seconds(0))
        let revoked = authority.revoke()

        #expect(revoked == .changed(authority.record!))
        let answers = [1, 2, 135].map { authority.acquire(.of(1, request: $0), at: .seconds(Double($0))).brief }
        #expect(answers == [.refused(.revoking), .refused(.revoking), .granted(2)])
    }

    /// Whoever has it by now, is not whom the person meant.
    @Test func takeover_takesFromNobody_butWhoItIsAimedAt() {
        var authority = Authority(.keep)
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.acquire(.of(2, takeover: 1), at: .seconds(1))

        let late = authority.acquire(.of(3, takeover: 1), at: .seconds(2))
        let wild = authority.acquire(.of(3, request: 2, takeover: 9), at: .seconds(3))

        #expect([late, wild].map(\.brief) == [.refused(.held), .refused(.held)])
        #expect((late.refusal?.record?.holder?.host, authority.record?.token) == (.of(2), 2))
    }

    @Test func takeover_ofAFreeMeter_isAnAcquire() {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.release(1, session: 1)

        #expect(authority.acquire(.of(2, takeover: 1), at: .seconds(1)).token == 2)
    }

    /// Its answer was lost, and the one it was taken from took it back.
    @Test func repeatedTakeover_isNotDecidedAnew() {
        var authority = Authority(.keep)
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.acquire(.of(2, request: 5, takeover: 1), at: .seconds(1))
        _ = authority.acquire(.of(1, request: 2, takeover: 2), at: .seconds(2))

        let again = authority.acquire(.of(2, request: 5, takeover: 3), at: .seconds(3))

        #expect(again.refusal?.reason == .held)
        #expect((again.refusal?.record?.holder?.host, authority.record?.token) == (.of(1), 3))
    }

    @Test(arguments: [(UInt64(7), LeaseAnswer.Brief.refused(.released)), (8, .granted(10))])
    func lastEightGrants_areRemembered(since count: UInt64, answer: LeaseAnswer.Brief) {
        var authority = Authority(.keep)
        _ = authority.acquire(.of(1, request: 1), at: .seconds(0))
        for number in 1...count {
            _ = authority.acquire(.of(2, request: number, takeover: authority.record?.token), at: .seconds(1))
            _ = authority.release(authority.record?.token ?? 0, session: 2)
        }

        #expect(authority.acquire(.of(1, request: 1), at: .seconds(2)).brief == answer)
    }

    /// Rule 5: what the host has seen, an authority that has forgotten it goes by.
    @Test func grant_isAboveWhatItsHostHasSeen() {
        var authority = Authority()
        let tokens = ([41, 42, 50] as [FencingToken]).enumerated().map { number, floor in
            authority.acquire(.of(1, request: UInt64(number + 1), floor: floor), at: .seconds(Double(number))).token
        }
        #expect(tokens == [42, 42, 51])
        _ = authority.release(51, session: 1)
        #expect(authority.acquire(.of(2, floor: 3), at: .seconds(3)).token == 52)
    }

    @Test func claim_thatIsTooGreat_isIgnored() {
        var authority = Authority()
        let beyond = FencingToken(rawValue: FencingToken.claimMax.rawValue + 1)

        #expect(authority.acquire(.of(1, floor: beyond), at: .seconds(0)).token == 1)
        _ = authority.release(1, session: 1)
        #expect(authority.acquire(.of(1, request: 2, floor: .claimMax), at: .seconds(1)).token == beyond)
    }

    /// A restart of the holder is its confirmed stop. Who waits gets the meter; the same host is not kept from what it
    /// waits for itself.
    @Test(
        arguments: [
            (nil, .granted(2)), (1, .granted(2)), (2, .refused(.reserved)),
        ] as [(UInt64?, LeaseAnswer.Brief)])
    func revoked_getsItBack_whenItIsRestarted_andNobodyElseWaits(next: UInt64?, answer: LeaseAnswer.Brief) {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(0))
        _ = authority.acquire(.of(2, takeover: 1), at: .seconds(1))
        authority.circumstances.nextInQueue = next.map { .of($0) }

        let restarted = authority.acquire(.of(1, session: 11, request: 2, previous: 10), at: .seconds(2))

        #expect(restarted.brief == answer)
        guard next == 2 else { return }
        #expect(authority.record?.state == .free)
        #expect(authority.acquire(.of(2, request: 2), at: .seconds(3)).token == 2)
    }

    @Test func revoke_changesNothing_whenNobodyHasIt() {
        var authority = Authority()
        #expect(authority.revoke() == .unchanged(nil))
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.release(1, session: 1)

        #expect(authority.revoke() == .unchanged(authority.record))
    }

    @Test func release_needsTokenAndSession_andMayBeRepeated() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))

        #expect(authority.release(2, session: 1) == .unchanged(authority.record))
        #expect(authority.release(1, session: 2) == .unchanged(authority.record))
        let freed = authority.release(1, session: 1)
        #expect(freed.record?.state == .free)
        #expect(authority.release(1, session: 1) == .unchanged(authority.record))
        #expect(authority.record?.token == 1)
    }

    /// Rule 6.
    @Test func lateRenewal_resurrectsNothing_afterTheRelease() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.release(1, session: 1)

        #expect(authority.renew(1, session: 1, at: .seconds(1)).loss == .released)
        #expect(authority.record?.state == .free)
    }

    /// "Also accepted after expiry while nobody else has acquired."
    @Test func renewal_isAccepted_longAfterExpiry_untilAnotherAcquires() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))

        #expect(authority.renew(1, session: 1, at: .seconds(10_000)).loss == nil)
        #expect(authority.acquire(.of(2), at: .seconds(20_000)).token == 2)
        #expect(authority.renew(1, session: 1, at: .seconds(20_001)).loss == .takenOver)
    }

    @Test func renewal_bringsAStricterPolicy_andNoLaxerOne() {
        var authority = Authority(.keep)
        _ = authority.acquire(.of(1), at: .seconds(0))
        authority.circumstances.terms = .standard(.strict)
        let stricter = authority.renew(1, session: 1, at: .seconds(60))
        authority.circumstances.terms = .standard(.keep)
        let laxer = authority.renew(1, session: 1, at: .seconds(120))

        #expect(stricter == .renewed(authority.record!) || stricter.loss == nil)
        #expect((laxer, authority.record?.terms.policy) == (.renewed(authority.record!), .strict))
        #expect(authority.acquire(.of(1, request: 2), at: .seconds(121)).terms?.policy == .keep)
    }

    @Test func renewal_isUnknown_whenTheTokenWasNeverGiven() {
        var authority = Authority()
        #expect(authority.renew(1, session: 1, at: .seconds(0)).loss == .unknown)
        _ = authority.acquire(.of(1), at: .seconds(0))

        #expect(authority.renew(2, session: 1, at: .seconds(1)).loss == .unknown)
        #expect(authority.renew(1, session: 9, at: .seconds(1)).loss == .unknown)
    }

    @Test func renewal_thatArrivesLate_shortensNothing() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))
        _ = authority.renew(1, session: 1, at: .seconds(60))

        _ = authority.renew(1, session: 1, at: .seconds(40))

        #expect(authority.record?.renewedAt == .seconds(60))
    }

    /// Rule 5: what an engine does at its start is to set `renewedAt`.
    @Test func restart_keepsTheMeterForItsHolder_forAFullTime() {
        var authority = Authority(.strict)
        _ = authority.acquire(.of(1), at: .seconds(0))
        authority.record?.renewedAt = .seconds(130)

        #expect(authority.acquire(.of(2), at: .seconds(264)).refusal?.reason == .held)
        #expect(authority.renew(1, session: 1, at: .seconds(264)).loss == nil)
    }

    /// Rule 5.
    @Test func restore_grantsNothingNew_butServesRenewalsAndRepetitions() {
        var authority = Authority()
        _ = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(0))
        authority.circumstances.grantsNothingNewBefore = .seconds(1000)

        let other = authority.acquire(.of(2), at: .seconds(900))
        let takeover = authority.acquire(.of(2, request: 2, takeover: 1), at: .seconds(10))
        let restarted = authority.acquire(.of(1, session: 11, request: 2, previous: 10), at: .seconds(10))
        let anew = authority.acquire(.of(1, session: 10, request: 3), at: .seconds(10))
        let repeated = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(10))

        let new = [other, takeover, restarted, anew].map(\.brief)
        #expect(new == [LeaseAnswer.Brief](repeating: .refused(.restoring), count: 4))
        #expect((other.refusal?.retryAfter, repeated.token) == (.seconds(100), 1))
        #expect(authority.renew(1, session: 10, at: .seconds(11)).loss == nil)
    }

    @Test func restore_isOver_atItsTime_andTokensJumpAhead() {
        var authority = Authority()
        authority.circumstances.grantsNothingNewBefore = .seconds(1000)
        authority.circumstances.tokenFloor = 5_000_000

        let answers = [999, 1000].map { authority.acquire(.of(1), at: .seconds($0)).brief }
        #expect(answers == [.refused(.restoring), .granted(5_000_000)])
    }

    /// Since the backup another host may have been given a greater token, and may still talk to the meter.
    @Test func restore_givesItsHolderANewToken_whenItAsksAgain() {
        var authority = Authority()
        _ = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(0))
        authority.circumstances.grantsNothingNewBefore = .seconds(1000)
        authority.circumstances.tokenFloor = 5_000_000

        let repeated = authority.acquire(.of(1, session: 10, request: 1), at: .seconds(10))
        let anew = authority.acquire(.of(1, session: 10, request: 2), at: .seconds(1000))

        #expect([repeated, anew].map(\.brief) == [.refused(.restoring), .granted(5_000_000)])
    }

    @Test func tokens_neverOverflow() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))
        authority.record?.token = .max
        _ = authority.release(.max, session: 1)
        #expect(authority.acquire(.of(2), at: .seconds(1)).refusal?.reason == .exhausted)
        authority.record?.token = FencingToken(rawValue: .max)
        #expect(authority.acquire(.of(2), at: .seconds(1)).refusal?.reason == .exhausted)
        authority.record?.token = 1
        authority.circumstances.tokenFloor = FencingToken(rawValue: .max)
        #expect(authority.acquire(.of(2), at: .seconds(1)).token == .claimMax)
    }

    @Test func view_showsExpiry_beforeItIsOver() {
        var authority = Authority()
        _ = authority.acquire(.of(1), at: .seconds(0))
        let record = authority.record!

        let fresh = LeaseView(record, of: .meter, at: .seconds(20), waiting: ["pi3"])
        let expired = LeaseView(record, of: .meter, at: .seconds(121))
        _ = authority.release(1, session: 1)
        let freed = LeaseView(authority.record!, of: .meter, at: .seconds(122))

        #expect(fresh.state == .held && fresh.remaining == .seconds(100) && fresh.waiting == ["pi3"])
        #expect(expired.state == .expired && expired.remaining == .zero && expired.holder == .of(1))
        #expect(freed.state == .free && freed.holder == nil && freed.token == 1)
    }
}
