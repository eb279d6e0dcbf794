import Domain
import Testing

/// The holder's machine: taking over, and standing in line.
struct LeaseMachineTakeoverTests {
    @Test func revoked_closesFirst_thenReleases_thenPauses() {
        var machine = LeaseMachine.held(.strict)

        let seen = machine.leaseSeen(.of(token: 1, .strict, state: .revoking), at: .seconds(5), random: 0)
        let again = machine.wanted(.resume, at: .seconds(5))
        let closed = machine.channelClosed(.letGo, at: .seconds(6))
        let released = machine.released(1, at: .seconds(7))

        #expect((seen, again, closed, released) == (.withdraw(.revoked), .none, .sendRelease(1), .none))
        #expect(machine.nextWake == .seconds(35))
    }

    @Test func pause_isNotEnded_byTheNewsOfOurOwnRelease() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.leaseSeen(.of(token: 1, .strict, state: .revoking), at: .seconds(5), random: 0)
        _ = machine.wanted(.resume, at: .seconds(5))
        _ = machine.channelClosed(.letGo, at: .seconds(6))
        _ = machine.released(1, at: .seconds(7))

        _ = machine.leaseSeen(.free(token: 1), at: .seconds(7), random: 0)

        #expect(machine.nextWake == .seconds(35))
    }

    @Test func personsWord_endsThePause() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.leaseSeen(.of(token: 1, .strict, state: .revoking), at: .seconds(5), random: 0)
        _ = machine.channelClosed(.letGo, at: .seconds(6))
        _ = machine.released(1, at: .seconds(7))

        let asked = machine.wanted(LeaseIntent(isAsked: true), at: .seconds(8))

        #expect(asked == .sendAcquire(again: false, takeover: nil))
    }

    @Test func revokedByRenewal_isTheSame() {
        var machine = LeaseMachine.held(.strict)
        _ = machine.joinRenewal(at: .seconds(60), random: 0)

        let lost = machine.renewalLost(.revoking, of: 1, .of(token: 1), at: .seconds(61), random: 0)

        #expect(lost == .withdraw(.revoked))
    }

    @Test func takenOver_closesTheLink_underKeepToo_andReleasesNothing() {
        var machine = LeaseMachine.held(.keep)

        let seen = machine.leaseSeen(.of(token: 2, holder: 2), at: .seconds(5), random: 0)
        let closed = machine.channelClosed(.letGo, at: .seconds(6))

        #expect((seen, closed, machine.phase(at: .seconds(6))) == (.withdraw(.takenOver), .none, .none))
    }

    /// Rule 4: it ran out in a partition, and on return another has it.
    @Test func takenOver_showsTheConflict_whenTheLeaseHadRunOutUnderKeep() {
        var machine = LeaseMachine.held(.keep)
        _ = machine.wokeUntilQuiet(at: .seconds(300))

        let lost = machine.renewalLost(.takenOver, of: 1, .of(token: 2, holder: 2), at: .seconds(301), random: 0)

        #expect((lost, machine.phase(at: .seconds(301))) == (.permitUnleased, .unleased(.held)))
    }

    /// Until then the link was closed in time; from then on there may be two.
    @Test func takenOver_isAConflict_fromTheHardStopOn() throws {
        for (early, expected) in [
            (Duration.milliseconds(1), LeaseMachine.Action.withdraw(.takenOver)), (.zero, .permitUnleased),
        ] {
            var machine = LeaseMachine.held(.keep)
            let time = try #require(machine.permit).hardStopAt - early

            let lost = machine.renewalLost(.takenOver, of: 1, .of(token: 2, holder: 2), at: time, random: 0)

            #expect(lost == expected, "\(early) before it")
        }
    }

    @Test func takeover_isAskedForOnce_thenWaitsInLine() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)

        let asked = machine.wanted(
            LeaseIntent(isTakeover: true, waitsInLine: true, isAsked: true), at: .seconds(0))
        let insisted = machine.refused(
            .held, .of(token: 4, .strict, holder: 2), retryAfter: .seconds(100), at: .seconds(1), random: 0)
        let refused = machine.refused(
            .revoking, .of(token: 4, .strict, holder: 2), retryAfter: .seconds(100), at: .seconds(1), random: 0)
        let offered = machine.offered(at: .seconds(2))

        #expect(asked == .sendAcquire(again: false, takeover: nil))
        #expect((insisted, refused) == (.sendAcquire(again: false, takeover: 4), .joinQueue))
        #expect(offered == .sendAcquire(again: false, takeover: nil))
    }

    @Test func takeover_isAskedForAtOnce_whenAPersonInsistsWhileItWaits() {
        var machine = LeaseMachine.refused()

        let pressed = machine.wanted(LeaseIntent(isTakeover: true, aimedAt: 7, isAsked: true), at: .seconds(2))

        #expect(pressed == .sendAcquire(again: false, takeover: 7))
    }

    @Test func takeover_followsTheRefusal_whenAPersonInsistsMeanwhile() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(1))

        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(2), random: 0)

        #expect(refused == .sendAcquire(again: false, takeover: 4))
    }

    /// Else it would take the meter, an hour later, from whoever has it then.
    @Test func wish_ends_whenTheCloudIsSilentForLong() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
        for second in stride(from: 5.0, to: 31, by: 5) {
            _ = machine.requestFailed(at: .seconds(second), random: 0)
            _ = machine.woke(at: .seconds(second + 4), random: 0)
        }

        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(40), random: 0)

        #expect((refused, machine.phase(at: .seconds(40))) == (.none, .waiting(.held)))
    }

    @Test func wish_ends_whenTheHostGoesOnWithoutALease() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(1), random: 0)
        _ = machine.woke(at: .seconds(3), random: 0)
        let unleased = machine.requestFailed(at: .seconds(4), random: 0)
        _ = machine.woke(at: .seconds(8), random: 0)

        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(9), random: 0)

        #expect((unleased, refused, machine.phase(at: .seconds(9))) == (.permitUnleased, .none, .unleased(.held)))
    }

    /// Somebody else was quicker: that is not whom the person meant.
    @Test func takeover_isNotAskedForAgain_whenAnotherHasTheMeterByNow() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(isTakeover: true, isAsked: true), at: .seconds(0))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(1), random: 0)

        let refused = machine.refused(
            .held, .of(token: 5, holder: 3), retryAfter: .seconds(100), at: .seconds(2), random: 0)

        #expect((refused, machine.phase(at: .seconds(2))) == (.none, .waiting(.held)))
    }

    @Test(arguments: [(29.0, true), (30.0, false)])
    func request_isRepeated_onlyWhileItIsYoung(age: Double, isRepeated: Bool) {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(5), random: 0)

        #expect(machine.woke(at: .seconds(age), random: 0) == .sendAcquire(again: isRepeated, takeover: nil))
    }

    @Test func queue_isLeft_whenNobodyWaitsAnyMore() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(waitsInLine: true, isAsked: true), at: .seconds(0))
        let joined = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(1), random: 0)

        let left = machine.unwanted(at: .seconds(2))

        #expect((joined, left) == (.joinQueue, .leaveQueue))
    }

    @Test func queue_isJoinedAgain_afterTheConnectionBroke() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(waitsInLine: true, isAsked: true), at: .seconds(0))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(1), random: 0)
        machine.cloudReached(at: .seconds(3), random: 0)

        let asked = machine.woke(at: .seconds(3), random: 0)
        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(100), at: .seconds(4), random: 0)

        #expect((asked, refused) == (.sendAcquire(again: false, takeover: nil), .joinQueue))
    }
}
