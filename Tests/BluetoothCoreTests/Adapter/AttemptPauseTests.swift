import Domain
import Testing

@testable import BluetoothCore

struct AttemptPauseTests {
    private let timing = AdapterTiming()

    @Test(arguments: [false, true])
    func attemptsWithoutEnd_restAndBreathe(isShared: Bool) {
        var pause = AttemptPause(isShared: isShared)
        let limit = isShared ? timing.pauseMaxShared : timing.pauseMax
        pause.update(hasAttempts: true, at: .origin, timing)
        #expect(pause.isResting)
        #expect(pause.wakeTime(timing) == limit.moment)
        pause.update(hasAttempts: true, at: limit.moment, timing)
        #expect(!pause.isResting)
        #expect(pause.isNeeded)
        #expect(pause.wakeTime(timing) == (limit + timing.breath).moment)
        pause.update(hasAttempts: true, at: (limit + timing.breath).moment, timing)
        #expect(pause.isResting)
    }

    @Test func pause_ends_withTheLastAttempt() {
        var pause = AttemptPause(isShared: false)
        pause.update(hasAttempts: true, at: .origin, timing)
        pause.update(hasAttempts: false, at: .origin, timing)
        #expect(!pause.isNeeded)
        #expect(pause.wakeTime(timing) == nil)
    }
}
