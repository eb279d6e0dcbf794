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
}
