import Domain
import Testing

/// The holder's machine while the cloud is away (rule 4).
struct LeaseMachineAwayTests {
    @Test func unreachableCloud_allowsALinkWithoutALease_underKeep_afterTwoFailures() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        let first = machine.requestFailed(at: .seconds(1), random: 0)
        _ = machine.woke(at: .seconds(2), random: 0)
        let second = machine.requestFailed(at: .seconds(3), random: 0)

        #expect((first, second, machine.phase(at: .seconds(3))) == (.none, .permitUnleased, .unleased(nil)))
    }

    @Test func unreachableCloud_allowsNothing_underStrict() {
        var machine = LeaseMachine(host: .of(1), policy: .strict)
        _ = machine.wanted(.resume, at: .seconds(0))
        for second in 1..<100 {
            let failed = machine.requestFailed(at: .seconds(Double(second)), random: 0)
            #expect(failed == .none)
            _ = machine.woke(at: .seconds(Double(second) + 0.5), random: 0)
        }
        #expect(machine.phase(at: .seconds(100)) == .requesting)
    }

    @Test func unreachableCloud_allowsNothing_whileAnotherHostMayHoldTheMeter() {
        var machine = LeaseMachine.refused(retryAfter: .seconds(100))
        var actions: [LeaseMachine.Action] = []
        var permittedAt: MonotonicTime?
        for second in 2..<200 {
            let now = MonotonicTime.seconds(Double(second))
            _ = machine.woke(at: now, random: 0)
            let action = machine.requestFailed(at: now, random: 0)
            actions.append(action)
            if action == .permitUnleased, permittedAt == nil { permittedAt = now }
        }

        #expect(permittedAt.map { $0 >= .seconds(101) } == true)
    }

    @Test func unleasedLink_becomesLeased_whenTheCloudReturns() {
        var machine = LeaseMachine.unleased()
        machine.cloudReached(at: .seconds(100), random: 0)
        let asked = machine.woke(at: .seconds(100), random: 0)
        let granted = machine.granted(.of(token: 1), sentAt: .seconds(100), at: .seconds(101), random: 0)

        #expect(asked == .sendAcquire(again: false, takeover: nil))
        #expect(granted == .permit(LeasePermit(token: 1, terms: .standard(.keep), sentAt: .seconds(100))))
    }

    @Test func unleasedLink_isAConflict_underKeep_andEnds_underStrict() {
        var kept = LeaseMachine.unleased()
        var strict = LeaseMachine.unleased()
        strict.policyChanged(.strict)

        let actions = (
            kept.refused(.held, .of(token: 2, holder: 2), retryAfter: .seconds(60), at: .seconds(10), random: 0),
            strict.refused(.held, .of(token: 2, holder: 2), retryAfter: .seconds(60), at: .seconds(10), random: 0)
        )

        #expect(actions == (.none, .withdraw(.takenOver)))
        #expect(kept.phase(at: .seconds(10)) == .unleased(.held))
    }

    @Test func linkThatIsUpAlready_stays_underKeep_andIsMadeAnew_underStrict() {
        var kept = LeaseMachine(host: .of(1), policy: .keep)
        var strict = LeaseMachine(host: .of(1), policy: .strict)

        let found = (kept.foundOpen(.resume, at: .seconds(0)), strict.foundOpen(.resume, at: .seconds(0)))
        let asked = kept.woke(at: .seconds(0), random: 0)
        let closed = strict.channelClosed(.letGo, at: .seconds(0))

        #expect(found == (.permitUnleased, .withdraw(.unknown)))
        #expect((asked, closed) == (.sendAcquire(again: false, takeover: nil), .none))
    }

    @Test func placeInTheQueue_isAskedForAgain_whenItCouldNotBeHad() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(LeaseIntent(waitsInLine: true, isAsked: true), at: .seconds(0))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: .seconds(10), at: .seconds(1), random: 0)
        machine.queueLost()
        _ = machine.woke(at: .seconds(20), random: 0)

        let refused = machine.refused(
            .held, .of(token: 4, holder: 2), retryAfter: .seconds(10), at: .seconds(21), random: 0)

        #expect(refused == .joinQueue)
    }

    @Test func unleasedLink_needsNoRelease() {
        var machine = LeaseMachine.unleased()

        let unwanted = machine.unwanted(at: .seconds(10))
        let closed = machine.channelClosed(.letGo, at: .seconds(10))

        #expect((unwanted, closed) == (.withdraw(.unwanted), .none))
    }

    @Test(arguments: [LeaseRenewal.Loss.unknown, .released])
    func cloudThatForgot_isAskedAnew_underKeep_andEndsTheLink_underStrict(loss: LeaseRenewal.Loss) {
        var kept = LeaseMachine.held(.keep)
        var strict = LeaseMachine.held(.strict)

        let actions = (
            kept.renewalLost(loss, of: 1, nil, at: .seconds(60), random: 0),
            strict.renewalLost(loss, of: 1, nil, at: .seconds(60), random: 0)
        )
        let asked = kept.woke(at: .seconds(60), random: 0)

        #expect(actions == (.permitUnleased, .withdraw(.unknown)))
        #expect(asked == .sendAcquire(again: false, takeover: nil))
    }
}
