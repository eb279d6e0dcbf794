import Domain
import Testing

/// The machine of a host that may only look (Docs/Relay.md#hosts-that-may-only-look).
struct LeaseMachineReadOnlyTests {
    private func machine(_ policy: LeasePolicy = .keep) -> LeaseMachine {
        LeaseMachine(host: .of(1), policy: policy, role: .readOnly)
    }

    /// What the machine does within an hour, woken whenever it wants to be.
    private func hour(_ machine: inout LeaseMachine) -> [LeaseMachine.Action] {
        var actions: [LeaseMachine.Action] = []
        var wakes = 0
        while let next = machine.nextWake, next <= .seconds(3600) {
            wakes += 1
            actions += machine.wokeUntilQuiet(at: next)
        }
        #expect(wakes <= 120, "it does not wake all the time")
        return actions
    }

    @Test func freeMeter_isUsedWithoutALease_underKeep_andNobodyIsAsked() {
        var machine = machine()

        let wanted = machine.wanted(LeaseIntent(isAsked: true), at: .seconds(0))
        let later = hour(&machine)

        #expect((wanted, later, machine.phase(at: .seconds(3600))) == (.permitUnleased, [], .unleased(nil)))
    }

    @Test func noMeter_isUsed_underStrict() {
        var machine = machine(.strict)

        let wanted = machine.wanted(LeaseIntent(isAsked: true), at: .seconds(0))
        let later = Set(hour(&machine))

        #expect((wanted, later, machine.phase(at: .seconds(3600))) == (.bar, [.bar], .barred))
    }

    @Test(arguments: [LeaseIntent.resume, LeaseIntent(isTakeover: true, isAsked: true), LeaseIntent(waitsInLine: true)])
    func meterOfAnotherHost_isRefused_andUsedOnceThatGivesItBack(intent: LeaseIntent) {
        var machine = machine()
        _ = machine.leaseSeen(.of(token: 3, holder: 2), at: .seconds(0), random: 0)

        let wanted = machine.wanted(intent, at: .seconds(1))
        let waiting = machine.wokeUntilQuiet(at: .seconds(100))
        let phase = machine.phase(at: .seconds(100))
        _ = machine.leaseSeen(.free(token: 3), at: .seconds(101), random: 0)
        let free = machine.wokeUntilQuiet(at: .seconds(101))

        #expect((wanted, Set(waiting), phase, free) == (.refuse, [.refuse], .waiting(.held), [.permitUnleased]))
    }

    /// Nobody says so when a lease has run out.
    @Test func meterOfAnotherHost_isUsed_whenItsLeaseIsOver() {
        var machine = machine()
        _ = machine.leaseSeen(.of(token: 3, holder: 2, remaining: .seconds(60)), at: .seconds(0), random: 0)
        _ = machine.wanted(.resume, at: .seconds(0))

        let early = machine.wokeUntilQuiet(at: .seconds(74.9))
        let over = machine.wokeUntilQuiet(at: .seconds(75))

        #expect((early.contains(.permitUnleased), over) == (false, [.permitUnleased]))
    }

    /// The cloud lists the lease of a host that has gone until somebody else asks for the meter.
    @Test func leaseThatIsOver_isNoConflict_howeverOftenItIsListed() {
        var machine = machine()
        let over = LeaseView.of(token: 3, state: .expired, holder: 2, remaining: .zero)
        _ = machine.leaseSeen(over, at: .seconds(0), random: 0)
        let early = machine.wanted(.resume, at: .seconds(1))
        let permitted = machine.wokeUntilQuiet(at: .seconds(15))

        let again = machine.leaseSeen(over, at: .seconds(60), random: 0)

        #expect((early, permitted, again) == (.refuse, [.permitUnleased], .none))
        #expect(machine.phase(at: .seconds(60)) == .unleased(nil))
    }

    /// What ran out was this host's own, from before it might only look: nobody else has the meter.
    @Test func ownLeaseThatIsOver_isNoOthers() {
        var machine = machine()
        _ = machine.leaseSeen(.of(token: 3, holder: 2), at: .seconds(0), random: 0)
        _ = machine.wanted(.resume, at: .seconds(1))
        let own = LeaseView.of(token: 4, state: .expired, holder: 1, remaining: .zero)

        _ = machine.leaseSeen(own, at: .seconds(2), random: 0)

        #expect(machine.wokeUntilQuiet(at: .seconds(100)).contains(.permitUnleased))
    }

    @Test func leaseOfAnotherHost_isShownAsAConflict_andTheLinkIsKept() {
        var machine = machine()
        _ = machine.wanted(.resume, at: .seconds(0))

        let seen = machine.leaseSeen(.of(token: 1, holder: 2), at: .seconds(5), random: 0)
        let conflict = machine.phase(at: .seconds(5))
        let freed = machine.leaseSeen(.free(token: 1), at: .seconds(9), random: 0)

        #expect(seen == .none && freed == .none)
        #expect((conflict, machine.phase(at: .seconds(9))) == (.unleased(.held), .unleased(nil)))
    }

    @Test func linkWithoutALease_ends_whenTheZoneBecomesStrict() {
        var machine = machine()
        _ = machine.wanted(LeaseIntent(isAsked: true), at: .seconds(0))
        machine.policyChanged(.strict)

        let over = machine.wokeUntilQuiet(at: .seconds(60))
        let closed = machine.channelClosed(.letGo, at: .seconds(60))

        #expect((over, closed) == ([.withdraw(.barred)], .bar))
    }

    /// The role comes with the account, or with the answer to the first request.
    @Test func request_isNotRepeated_onceTheRoleIsKnown() {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        let asked = machine.wanted(.resume, at: .seconds(0))

        let told = machine.roleIs(.readOnly, at: .seconds(1))
        let again = machine.roleIs(.readOnly, at: .seconds(1))
        let failed = machine.requestFailed(at: .seconds(2), random: 0)
        let later = hour(&machine)

        #expect((asked, told) == (.sendAcquire(again: false, takeover: nil), .permitUnleased))
        #expect(again == .none && failed == .none)
        #expect(later == [])
    }

    @Test func lease_isAskedFor_onceTheHostHasAnotherToken() {
        var machine = machine(.strict)
        _ = machine.wanted(.resume, at: .seconds(0))

        let told = machine.roleIs(.full, at: .seconds(10))

        #expect(told == .sendAcquire(again: false, takeover: nil))
    }

    @Test func meterThatNobodyWantsAnyMore_leavesNothing() {
        for policy in LeasePolicy.allCases {
            var machine = machine(policy)
            _ = machine.wanted(.resume, at: .seconds(0))
            _ = machine.unwanted(at: .seconds(1))
            _ = machine.channelClosed(.letGo, at: .seconds(1))

            #expect((machine.nextWake, machine.phase(at: .seconds(1))) == (nil, .none))
        }
    }
}
