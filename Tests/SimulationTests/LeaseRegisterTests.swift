import Domain
import SimulatedCloud
import Testing

/// Histories whose verdict a person can see, one rule each.
struct LeaseRegisterTests {
    private func verdict(
        _ policy: LeasePolicy = .keep, policies: PolicyHistory? = nil, _ tell: (inout LeaseHistory) -> Void
    ) -> LinearizabilityChecker.Verdict {
        var history = LeaseHistory()
        tell(&history)
        let terms = LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy)
        return LinearizabilityChecker(terms: terms, policies: policies).check(history.operations)
    }

    /// `keep` until the change to `strict` between 100 s and 101 s, and again from that between 200 s and 201 s.
    private var strictForAWhile: PolicyHistory {
        var policies = PolicyHistory(.keep)
        policies.change(to: .strict, calledAt: LeaseHistory.at(100), returnedAt: LeaseHistory.at(101))
        policies.change(to: .keep, calledAt: LeaseHistory.at(200), returnedAt: LeaseHistory.at(201))
        return policies
    }

    @Test func handOver_isLinearizable_whenReleasedFirst() {
        let verdict = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.renew(1, 1, 60...61)
            $0.release(1, 1, 70...71)
            $0.acquire(2, 72...73, .granted(2))
        }
        #expect(verdict == .linearizable)
    }

    @Test func twoHolders_areNotLinearizable() {
        let verdict = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 2...3, .granted(2))
        }
        #expect(verdict.isRefusal)
    }

    @Test func overlappingAcquires_mayTakeEffectInEitherOrder() {
        let verdict = verdict {
            $0.acquire(1, 0...10, .refused(by: 2, 1))
            $0.acquire(2, 5...6, .granted(1))
        }
        #expect(verdict == .linearizable)
    }

    @Test func refusal_isNotLinearizable_whenItsHolderCameLater() {
        let verdict = verdict {
            $0.acquire(1, 0...4, .refused(by: 2, 1))
            $0.acquire(2, 5...6, .granted(1))
        }
        #expect(verdict.isRefusal)
    }

    @Test(arguments: [(134.0, false), (135.0, true), (136.0, true)])
    func nextHost_mayHaveIt_afterTimeToLiveAndLockDelay(returned: Double, isAllowed: Bool) {
        let verdict = verdict {
            $0.acquire(1, 0...20, .granted(1))
            $0.acquire(2, 100...returned, .granted(2))
        }
        #expect((verdict == .linearizable) == isAllowed)
    }

    @Test func expiry_pushesWhatFollows_pastItsMoment() {
        // The second host can have it at 135 s at the earliest, and a read that ended at 120 s saw it.
        let verdict = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 100...200, .granted(2))
            $0.read(110...120, .of(2, 2))
        }
        #expect(verdict.isRefusal)
    }

    @Test func renewal_movesTheEnd() {
        let verdict = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.renew(1, 1, 60...61)
            $0.acquire(2, 140...141, .granted(2))
        }
        #expect(verdict.isRefusal)
    }

    @Test func renewal_isAccepted_afterExpiry_onlyWhileNobodyElseHasIt() {
        let alone = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.renew(1, 1, 500...501)
        }
        let late = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 200...201, .granted(2))
            $0.renew(1, 1, 202...203)
        }
        #expect(alone == .linearizable)
        #expect(late.isRefusal)
    }

    @Test func release_isTerminal() {
        let resurrected = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.release(1, 1, 2...3)
            $0.renew(1, 1, 4...5)
        }
        let told = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.release(1, 1, 2...3)
            $0.renew(1, 1, 4...5, .lost(.released))
        }
        #expect(resurrected.isRefusal)
        #expect(told == .linearizable)
    }

    @Test func release_ofAnother_changesNothing() {
        let freed = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.release(2, 1, 2...3)
            $0.acquire(2, 4...5, .granted(2))
        }
        let kept = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.release(2, 1, 2...3)
            $0.read(4...5, .of(1, 1))
        }
        #expect(freed.isRefusal)
        #expect(kept == .linearizable)
    }

    @Test func token_neverComesTwice() {
        let verdict = verdict {
            $0.acquire(1, 0...1, .granted(7))
            $0.release(1, 7, 2...3)
            $0.acquire(2, 4...5, .granted(7))
        }
        #expect(verdict.isRefusal)
    }

    @Test func restartedHost_hasItAtOnce_onlyWithItsPreviousSession() {
        let named = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(1, 2...3, .granted(2), run: 2, after: 1)
        }
        let unnamed = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(1, 2...3, .granted(2), run: 2)
        }
        #expect(named == .linearizable)
        #expect(unnamed.isRefusal)
    }

    @Test func takeover_isAtOnce_underKeepOnly() {
        let tell: (inout LeaseHistory) -> Void = {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 2...3, .granted(2), takeover: 1)
        }
        #expect(verdict(.keep, tell) == .linearizable)
        #expect(verdict(.strict, tell).isRefusal)
    }

    @Test func takeoverWithoutAnswer_mayBeGrantedUnderStrict_whereItCameOnceTheHoldersTimeWasOver() {
        let held = verdict(.strict) {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 5...5, .unknown, takeover: 1)
            $0.read(140...141, .of(2, 2))
        }
        let tooEarly = verdict(.strict) {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 5...5, .unknown, takeover: 1)
            $0.read(100...101, .of(2, 2))
        }
        let both = verdict(.strict) {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 5...5, .unknown, takeover: 1)
            $0.renew(1, 1, 20...21, .lost(.revoking))
            $0.read(160...161, .of(2, 2))
        }
        #expect(held == .linearizable)
        #expect(tooEarly.isRefusal)
        #expect(both.isRefusal)
    }

    @Test(arguments: [(50.0, true), (100.5, true), (150.0, false), (250.0, true)])
    func takeover_isAtOnce_whileThePolicyMayBeKeep(calledAt: Double, isAllowed: Bool) {
        let verdict = verdict(policies: strictForAWhile) {
            $0.acquire(1, (calledAt - 20)...(calledAt - 19), .granted(1))
            $0.acquire(1, (calledAt - 1)...(calledAt - 0.5), .granted(1))
            $0.acquire(2, calledAt...(calledAt + 0.1), .granted(2), takeover: 1)
        }
        #expect((verdict == .linearizable) == isAllowed)
    }

    @Test func lease_staysStrict_untilItsNextAcquire() {
        let renewed = verdict(policies: strictForAWhile) {
            $0.acquire(1, 90...91, .granted(1))
            $0.renew(1, 1, 150...151)
            $0.acquire(2, 210...211, .granted(2), takeover: 1)
        }
        let acquired = verdict(policies: strictForAWhile) {
            $0.acquire(1, 90...91, .granted(1))
            $0.renew(1, 1, 150...151)
            $0.acquire(1, 205...206, .granted(1))
            $0.acquire(2, 210...211, .granted(2), takeover: 1)
        }
        let perhapsAcquired = verdict(policies: strictForAWhile) {
            $0.acquire(1, 90...91, .granted(1))
            $0.renew(1, 1, 150...151)
            $0.acquire(1, 205...205, .unknown)
            $0.acquire(2, 210...211, .granted(2), takeover: 1)
        }
        #expect(renewed.isRefusal)
        #expect(acquired == .linearizable)
        #expect(perhapsAcquired == .linearizable)
    }

    @Test func takeoverWithoutAnswer_mayHaveRevoked_whileThePolicyMayBeStrict() {
        let tell: (inout LeaseHistory) -> Void = {
            $0.acquire(1, 90...91, .granted(1))
            $0.acquire(2, 95...95, .unknown, takeover: 1)
            $0.renew(1, 1, 105...106, .lost(.revoking))
        }
        #expect(verdict(policies: strictForAWhile, tell) == .linearizable)
        #expect(verdict(.keep, tell).isRefusal)
    }

    @Test func change_withoutAnswer_leavesThePolicyOpen() {
        var policies = strictForAWhile
        policies.changeWithoutAnswer(calledAt: LeaseHistory.at(300))
        #expect(policies.policy(from: LeaseHistory.at(150), to: LeaseHistory.at(160)) == .strict)
        #expect(policies.policy(from: LeaseHistory.at(150), to: LeaseHistory.at(200)) == nil)
        #expect(policies.policy(from: LeaseHistory.at(250), to: LeaseHistory.at(260)) == .keep)
        #expect(policies.policy(from: LeaseHistory.at(250), to: nil) == nil)
        #expect(policies.policy(from: LeaseHistory.at(400), to: LeaseHistory.at(401)) == nil)
    }

    @Test func revokedHolder_cannotRenew() {
        let told = verdict(.strict) {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 2...3, .refused(.revoking, .of(1, 1)), takeover: 1)
            $0.renew(1, 1, 4...5, .lost(.revoking))
            $0.release(1, 1, 6...7)
            $0.acquire(2, 8...9, .granted(2))
        }
        let renewed = verdict(.strict) {
            $0.acquire(1, 0...1, .granted(1))
            $0.add(2...3, .revoke, .done)
            $0.renew(1, 1, 4...5)
        }
        #expect(told == .linearizable)
        #expect(renewed.isRefusal)
    }

    @Test func acquireWithoutAnswer_mayHaveBeenGranted_orNot() {
        let granted = verdict {
            $0.acquire(1, 0...0, .unknown)
            $0.read(5...6, .of(1, 1))
        }
        let never = verdict {
            $0.acquire(1, 0...0, .unknown)
            $0.acquire(2, 5...6, .granted(1))
        }
        let tooEarly = verdict {
            $0.read(1...2, .of(1, 1))
            $0.acquire(1, 5...5, .unknown)
        }
        #expect(granted == .linearizable)
        #expect(never == .linearizable)
        #expect(tooEarly.isRefusal)
    }

    @Test func acquireWithoutAnswer_holdsTheLease_onceItWasSeen() {
        let verdict = verdict {
            $0.acquire(1, 0...0, .unknown)
            $0.read(5...6, .of(1, 4))
            $0.acquire(2, 7...8, .granted(5))
        }
        #expect(verdict.isRefusal)
    }

    @Test func acquireWithoutAnswer_mayBeGrantedAnew_toTheHolderThatWasRevoked_onceItIsOver() {
        let inTime = verdict(.strict) {
            $0.acquire(1, 0...1, .granted(1))
            $0.acquire(2, 2...3, .refused(.revoking, .of(1, 1)), takeover: 1)
            $0.acquire(1, 100...100, .unknown)
            $0.read(140...141, .of(1, 2))
        }
        let tooEarly = verdict(.strict) {
            $0.acquire(1, 10...11, .granted(1))
            $0.acquire(2, 12...13, .refused(.revoking, .of(1, 1)), takeover: 1)
            $0.acquire(1, 100...100, .unknown)
            $0.read(140...141, .of(1, 2))
        }
        #expect(inTime == .linearizable)
        #expect(tooEarly.isRefusal)
    }

    @Test func acquiresWithoutAnswer_thatAskForTheSame_mayAllHaveBeenGranted() {
        let verdict = verdict {
            $0.acquire(1, 0...0, .unknown)
            $0.acquire(1, 1...1, .unknown)
            $0.read(2...3, .of(1, 1))
            $0.release(1, 1, 4...5)
            $0.read(6...7, .of(nil, 1))
            $0.read(8...9, .of(1, 2))
        }
        #expect(verdict == .linearizable)
    }

    @Test func repeatedRequest_hasTheSameAnswer() {
        let verdict = verdict {
            $0.acquire(1, 0...0, .unknown, request: 5)
            $0.acquire(1, 3...4, .granted(1), request: 5)
            $0.acquire(1, 5...6, .granted(1), request: 5)
            $0.read(7...8, .of(1, 1))
        }
        #expect(verdict == .linearizable)
    }

    @Test(arguments: [(7, true), (8, false)])
    func repeatedRequest_isNotGrantedAnew_asLongAsItIsRemembered(others: Int, isRefused: Bool) {
        let verdict = verdict {
            $0.acquire(1, 0...1, .granted(1), request: 5)
            $0.release(1, 1, 2...3)
            for other in 1...others {
                let time = Double(10 * other)
                $0.acquire(2, time...(time + 1), .granted(UInt64(other + 1)))
                $0.release(2, UInt64(other + 1), (time + 2)...(time + 3))
            }
            $0.acquire(1, 100...101, .granted(UInt64(others + 2)), request: 5)
        }
        #expect(verdict.isRefusal == isRefused)
    }

    @Test func releaseWithoutAnswer_mayTakeEffectLate() {
        let verdict = verdict {
            $0.acquire(1, 0...1, .granted(1))
            $0.release(1, 1, 2...2, .unknown)
            $0.read(10...11, .of(1, 1))
            $0.acquire(2, 12...13, .granted(2))
        }
        #expect(verdict == .linearizable)
    }

    @Test func meters_areJudgedApart() {
        var first = LeaseHistory()
        first.acquire(1, 0...1, .granted(1))
        var second = LeaseHistory()
        second.meter = "112233445566"
        second.acquire(2, 0...1, .granted(1))
        second.acquire(1, 2...3, .granted(2))

        let verdict = LinearizabilityChecker(terms: .standard).check(first.operations + second.operations)

        guard case .notLinearizable(let example) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(example.meter == "112233445566")
        #expect(example.stuck == [second.operations[1]])
    }

    @Test func slack_forgivesAsMuchAsItSays() {
        var history = LeaseHistory()
        history.acquire(1, 0...1, .granted(1))
        history.acquire(2, 134...134.5, .granted(2))
        let exact = LinearizabilityChecker(terms: .standard).check(history.operations)
        let lenient = LinearizabilityChecker(terms: .standard, slack: .seconds(1)).check(history.operations)
        #expect(exact.isRefusal)
        #expect(lenient == .linearizable)
    }
}
