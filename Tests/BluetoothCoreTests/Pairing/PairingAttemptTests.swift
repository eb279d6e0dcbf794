import BluetoothCore
import Testing

struct PairingAttemptTests {
    private func attempt(_ body: (inout PairingAttempt) -> Void) -> PairingAttempt {
        var attempt = PairingAttempt()
        body(&attempt)
        return attempt
    }

    @Test func meterThatAskedNothing_failedForAnotherReason() {
        #expect(attempt { _ in }.cause(isRefused: false, isBondable: true) == nil)
        #expect(attempt { _ in }.cause(isRefused: true, isBondable: true) == nil)
    }

    @Test func kernelThatAsksNobody_isNamed() {
        #expect(attempt { _ in }.cause(isRefused: true, isBondable: false) == .notBondable)
    }

    @Test func forgottenKey_isNamed() {
        let attempt = attempt { $0.failed(.authenticationFailed) }
        #expect(attempt.cause(isRefused: true, isBondable: true) == .keyRefused)
    }

    @Test(arguments: [ManagementStatus.busy, .failed, .notConnected])
    func answerThatComesTooLate_meansThatAnotherRefused(status: ManagementStatus) {
        let attempt = attempt {
            $0.pinRequested()
            $0.pinSent()
            $0.answered(status)
        }
        #expect(attempt.cause(isRefused: true, isBondable: true) == .refusedByAnother)
        #expect(attempt.cause(isRefused: false, isBondable: true) == .refusedByAnother)
    }

    @Test func failureBeforeOurAnswerWasAcknowledged_isAnothersDoing() {
        let attempt = attempt {
            $0.pinRequested()
            $0.pinSent()
        }
        #expect(attempt.cause(isRefused: true, isBondable: true) == .refusedByAnother)
    }

    @Test func answerThatWasTaken_wasWrong() {
        let attempt = attempt {
            $0.pinRequested()
            $0.pinSent()
            $0.answered(.success)
        }
        #expect(attempt.cause(isRefused: true, isBondable: true) == .wrongPIN)
        #expect(attempt.cause(isRefused: false, isBondable: true) == .silentAfterPIN)
    }

    @Test func answerThroughBluetoothd_isOneToo() {
        let attempt = attempt {
            $0.pinRequested()
            $0.pinGiven()
            $0.answered(.busy)
        }
        #expect(attempt.cause(isRefused: true, isBondable: true) == .wrongPIN)
    }

    @Test func requestWithoutAnswer_tookTooLong_orWasRefusedByAnother() {
        let attempt = attempt { $0.pinRequested() }
        #expect(attempt.isUnanswered)
        #expect(attempt.cause(isRefused: false, isBondable: true) == .unanswered)
        #expect(attempt.cause(isRefused: true, isBondable: true) == .refusedByAnother)
    }

    @Test func key_endsThePairing() {
        let attempt = attempt {
            $0.pinRequested()
            $0.pinSent()
            $0.answered(.success)
            $0.paired()
        }
        #expect(!attempt.isUnanswered)
        #expect(attempt.cause(isRefused: true, isBondable: true) == nil)
    }

    @Test func meterThatAsksAgain_hasNoAnswerYet() {
        var attempt = attempt {
            $0.pinRequested()
            $0.pinSent()
            $0.answered(.success)
            $0.pinRequested()
        }
        #expect(attempt.answer == .none)
        #expect(attempt.isUnanswered)
        // Of an answer that was not sent nothing is known.
        attempt.answered(.success)
        #expect(attempt.answer == .none)
    }

    /// Everything that may have become of an answer, and how the attempt ended.
    @Test func cause_isOfTheAnswerAndTheEnd() {
        let answers: [(PairingAttempt.Answer, refused: PairingFailure, silent: PairingFailure)] = [
            (.none, .refusedByAnother, .unanswered), (.sent, .refusedByAnother, .silentAfterPIN),
            (.given, .wrongPIN, .silentAfterPIN), (.taken, .wrongPIN, .silentAfterPIN),
            (.late, .refusedByAnother, .refusedByAnother),
        ]
        for (answer, refused, silent) in answers {
            let asked = attempt {
                $0.pinRequested()
                switch answer {
                case .none: break
                case .given: $0.pinGiven()
                case .sent: $0.pinSent()
                case .taken, .late:
                    $0.pinSent()
                    $0.answered(answer == .taken ? .success : .failed)
                }
            }
            #expect(asked.answer == answer)
            for isBondable in [nil, true, false] {
                #expect(asked.cause(isRefused: true, isBondable: isBondable) == refused, "\(answer)")
                #expect(asked.cause(isRefused: false, isBondable: isBondable) == silent, "\(answer)")
            }
            var failed = asked
            failed.failed(.authenticationFailed)
            #expect(failed.cause(isRefused: false, isBondable: true) == refused, "\(answer)")
            #expect(!failed.isUnanswered)
            var late = asked
            late.failed(.timeout)
            #expect(late.cause(isRefused: true, isBondable: true) == silent, "\(answer)")
            #expect(asked.isUnanswered == (answer == .none))
        }
        let unasked = attempt { $0.failed(.timeout) }
        #expect(unasked.cause(isRefused: false, isBondable: true) == .keyRefused)
        #expect(unasked.cause(isRefused: false, isBondable: false) == .notBondable)
        #expect(attempt { _ in }.cause(isRefused: false, isBondable: false) == nil)
        #expect(attempt { _ in }.cause(isRefused: true, isBondable: nil) == nil)
    }
}
