import LeaseCore
import MeterModel
import SimulatedCloud
import Testing

/// Histories whose verdict a person can see, one rule each.
struct LeaseRegisterTests {
    private func verdict(
        _ policy: LeasePolicy = .keep, _ tell: (inout LeaseHistory) -> Void
    ) -> LinearizabilityChecker.Verdict {
        var history = LeaseHistory()
        tell(&history)
        let terms = LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy)
        return LinearizabilityChecker(terms: terms).check(history.operations)
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
