import Domain
import Testing

/// Who gets a meter that was asked for under a second id, which had leases of its own before it became an alias
/// (Docs/Decisions/0014-takeovers-and-aliases.md).
struct LeaseAliasRuleTests {
    /// Tokens of the alias up to this one are from before.
    private static let before: FencingToken = 10
    private let circumstances = LeaseCircumstances(
        now: .seconds(60), wallNow: WallTime(millisecondsSince1970: 0), terms: .standard(.keep))

    /// Holds the meter with this token since 0 s.
    private func record(of host: UInt64, token: FencingToken, request: UInt64 = 1) -> LeaseRecord? {
        var circumstances = circumstances
        circumstances.now = .seconds(0)
        circumstances.grantsAbove = FencingToken(rawValue: token.rawValue - 1)
        return LeaseRules.acquire(.of(host, request: request), of: nil, in: circumstances).record
    }

    private func standing(_ record: LeaseRecord?, former: LeaseRecord? = nil) -> LeaseSnapshot {
        LeaseSnapshot(
            meter: "meter", record: record, floor: Self.before,
            alias: LeaseSnapshot.Alias(tokensBefore: Self.before, record: former))
    }

    private func acquire(_ request: LeaseAcquire, _ lease: LeaseSnapshot, at now: MonotonicTime = .seconds(60))
        -> LeaseAnswer
    {
        var circumstances = circumstances
        circumstances.now = now
        return LeaseRules.acquire(request, of: lease, in: circumstances).answer
    }

    @Test func freeMeter_isGranted_aboveTheFloor() {
        #expect(acquire(.of(1), standing(nil)).token == 11)
        var plain = standing(nil)
        plain.alias = nil
        #expect(acquire(.of(1), plain).token == 11)
    }

    /// Its answer was lost, and meanwhile the two meters were found to be one.
    @Test func requestThatWasGrantedUnderTheAlias_isNotDecidedAnew() {
        let former = record(of: 1, token: 4, request: 7)

        let free = acquire(.of(1, request: 7), standing(nil, former: former))
        let held = acquire(.of(1, request: 7), standing(record(of: 2, token: 12), former: former))
        let another = acquire(.of(1, request: 8), standing(nil, former: former))

        #expect((free.refusal?.reason, free.refusal?.retryAfter, held.refusal?.reason) == (.released, .zero, .held))
        #expect((held.refusal?.retryAfter, another.token) == (.seconds(75), 11))
    }

    /// A token that means nothing under this id is not handed out under it.
    @Test func runThatHasTheMeterUnderItsOtherId_waits_untilThatIsOver() {
        let lease = standing(record(of: 1, token: 10))

        let early = acquire(.of(1, request: 2), lease)
        let other = acquire(.of(2), lease)
        let over = acquire(.of(1, request: 2), lease, at: .seconds(135))

        #expect((early.refusal?.reason, early.refusal?.retryAfter) == (.held, .seconds(75)))
        #expect((other.refusal?.reason, over.token) == (.held, 11))
    }

    @Test func runWithATokenOfTheMeter_keepsIt() {
        #expect(acquire(.of(1, request: 2), standing(record(of: 1, token: 11))).token == 11)
    }

    @Test func takeoverOfAFormerGrant_takesFromNobody() {
        let lease = standing(record(of: 2, token: 10))
        #expect(acquire(.of(1, takeover: 10), lease).refusal?.reason == .held)
        #expect(acquire(.of(1, takeover: 11), standing(record(of: 2, token: 11))).token == 12)
    }

    @Test(arguments: [(FencingToken(10), false), (11, true)])
    func renewalAndRelease_needATokenFromAfter(token: FencingToken, isGood: Bool) {
        let lease = standing(record(of: 1, token: token))

        let renewal = LeaseRules.renew(token, session: .of(1), of: lease, under: .keep, at: .seconds(60))
        let release = LeaseRules.release(token, session: .of(1), of: lease)

        #expect((renewal.answer.loss == nil) == isGood)
        if !isGood { #expect(renewal.answer == .lost(.released, lease.record)) }
        #expect((renewal.record != nil, release.answer == .unchanged(lease.record)) == (isGood, !isGood))
        #expect((release.record != nil) == isGood)
    }

    @Test func revoke_isThatOfTheMeter() {
        let lease = standing(record(of: 1, token: 11))
        #expect(LeaseRules.revoke(lease).record?.state == LeaseRules.revoke(lease.record).record?.state)
        #expect(LeaseRules.revoke(lease).record?.isOver(at: .seconds(0)) != nil)
    }
}
