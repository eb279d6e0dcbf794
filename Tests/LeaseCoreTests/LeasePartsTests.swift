import Testing

@testable import Domain

/// The parts of the holder's machine, each by itself.
struct PendingRequestTests {
    @Test func request_failsOnceItsTimeIsOver() {
        let request = PendingRequest.sent(at: .seconds(10))

        #expect((request.isInFlight, request.due(at: .seconds(14.9))) == (true, nil))
        #expect(request.due(at: .seconds(15)) == .failure)
    }

    @Test func waitingRequest_isHastened_andNeverDelayed() {
        var request = PendingRequest.waiting(until: .seconds(10))

        request.hasten(to: .seconds(12))
        #expect(request.time == .seconds(10))
        request.hasten(to: .seconds(8))
        #expect(request.due(at: .seconds(8)) == .sending)
    }
}

struct TakeoverIntentTests {
    @Test func firstRefusal_givesTheTarget_andTheNextOneEndsTheIntent() throws {
        var intent = try #require(TakeoverIntent(LeaseIntent(isTakeover: true), at: .origin))

        let first = intent.refused(.held, .of(7), asked: nil, at: .seconds(1))
        let second = intent.refused(.held, .of(7), asked: 7, at: .seconds(2))

        #expect(([first, second], intent.target) == ([true, false], 7))
    }

    @Test func personsOwnAim_countsForMoreThanTheAnswer() throws {
        var intent = try #require(TakeoverIntent(LeaseIntent(isTakeover: true, aimedAt: 5), at: .origin))

        let goesOn = intent.refused(.held, .of(7), asked: nil, at: .seconds(1))

        #expect((goesOn, intent.target) == (true, 5))
    }

    @Test func intent_lapses_andAnotherRefusalEndsIt() throws {
        var intent = try #require(TakeoverIntent(LeaseIntent(isTakeover: true), at: .origin))

        let reserved = intent.refused(.reserved, .of(7), asked: nil, at: .seconds(1))
        let late = intent.refused(.held, .of(7), asked: nil, at: .seconds(30))

        #expect(([reserved, late], intent.isOver(at: .seconds(29.9))) == ([false, false], false))
        #expect(TakeoverIntent(.resume, at: .origin) == nil)
    }
}

struct LeaseKnowledgeTests {
    private func knowledge(_ policy: LeasePolicy = .keep) -> LeaseKnowledge {
        LeaseKnowledge(host: .of(1), policy: policy, role: .full, greatestToken: nil)
    }

    @Test func unanswered_allowsUnleased_underKeepOnly_andNotWhileAnotherHostMayHaveTheMeter() {
        var (kept, strict, elsewhere) = (knowledge(), knowledge(.strict), knowledge())
        elsewhere.refused(.held, .of(3), until: .seconds(20))
        for _ in 0..<LeaseTiming.unreachableAfter {
            kept.unanswered()
            strict.unanswered()
            elsewhere.unanswered()
        }

        #expect(kept.mayGoUnleased(at: .seconds(1)) && !strict.mayGoUnleased(at: .seconds(1)))
        #expect(!elsewhere.mayGoUnleased(at: .seconds(19.9)))
        #expect(elsewhere.mayGoUnleased(at: .seconds(20)))
        kept.answered()
        #expect(!kept.mayGoUnleased(at: .seconds(1)))
    }

    @Test func tokens_onlyRise() {
        var known = knowledge()

        known.heard(.of(5))
        known.heard(.of(4))
        known.gaveBack(5)
        known.gaveBack(3)

        #expect((known.greatestToken, known.isGivenBack(5), known.isGivenBack(6)) == (5, true, false))
    }

    @Test func pause_endsWithALaterLeaseGivenBack() {
        var known = knowledge()
        known.pause(for: 5, at: .seconds(10))

        #expect(known.pausedUntil == .seconds(40))
        known.endPause(ifGivenBack: .of(5, .free))
        known.endPause(ifGivenBack: .of(6, .held))
        #expect(known.pausedUntil == .seconds(40))
        known.endPause(ifGivenBack: .of(6, .free))
        #expect(known.pausedUntil == nil)
    }
}

struct HoldingTests {
    private func holding() -> Holding { Holding(.of(5), sentAt: .origin, random: 100) }

    @Test func oldAnswer_isNoRenewal() {
        var holding = holding()

        let same = holding.renew(.of(5), sentAt: .origin, at: .seconds(1), random: 100)
        // From its hard stop on it would be lost at once.
        let late = holding.renew(.of(5), sentAt: .seconds(1), at: .seconds(109), random: 100)
        let good = holding.renew(.of(5), sentAt: .seconds(1), at: .seconds(108), random: 100)

        #expect(([same, late, good], holding.renewAt) == ([false, false, true], .seconds(61)))
    }

    @Test func lostLink_keepsTheLeaseForAReconnect_andAFailedAttemptNoLonger() {
        var holding = holding()

        let isKept = holding.closed(.linkLost, at: .seconds(10))
        let (isOpen, nextWake) = (holding.isOpen, holding.nextWake)
        holding.reopen()
        let isStillKept = holding.closed(.attemptFailed, at: .seconds(15))
        let due = [holding.woke(at: .seconds(19.9), under: .keep), holding.woke(at: .seconds(20), under: .keep)]
        holding.reopen()
        let isKeptLonger = holding.closed(.attemptFailed, at: .seconds(20))

        #expect(([isKept, isStillKept, isKeptLonger], isOpen, nextWake) == ([true, true, false], false, .seconds(20)))
        #expect(due == [nil, .graceOver])
    }

    @Test func hardStop_losesAKeptLease_andEndsAStrictOne() {
        var (kept, strict) = (holding(), holding())

        let dueWhenKept = kept.woke(at: .seconds(108), under: .keep)
        let dueWhenStrict = strict.woke(at: .seconds(108), under: .strict)

        #expect((dueWhenKept, kept.isLost, dueWhenStrict) == (nil, true, .hardStop))
    }
}

extension LeaseView {
    fileprivate static func of(_ token: FencingToken, _ state: State = .held) -> LeaseView {
        LeaseView(
            meter: .meter, state: state, holder: state == .free ? nil : .of(2), holderName: nil, token: token,
            terms: .standard(.keep), transport: .usb, acquiredAt: nil, remaining: .seconds(100))
    }
}
