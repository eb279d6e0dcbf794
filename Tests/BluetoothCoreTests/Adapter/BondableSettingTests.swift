import Domain
import Testing

@testable import BluetoothCore

struct BondableSettingTests {
    /// Asks at a time, loses it so long after, and says how long it is left alone and whether that was noted.
    private func lose(
        _ setting: inout BondableSetting, askedAt asked: MonotonicTime, after delay: Duration
    ) -> (held: Duration?, isNoted: Bool) {
        #expect(setting.request(lastAttempt: nil, at: asked) == true)
        let lost = asked + delay
        let actions = setting.lost(at: lost)
        return (setting.wakeTime.map { $0 - lost }, actions == [.noteBondableContested])
    }

    @Test func losses_holdItBack_longerEachTime_andAreNotedOnce() {
        var setting = BondableSetting()
        var held: [Duration?] = []
        var noted: [Bool] = []
        for _ in 0..<14 {
            let loss = lose(&setting, askedAt: setting.wakeTime ?? .origin, after: .seconds(1))
            held.append(loss.held)
            noted.append(loss.isNoted)
            #expect(setting.isContested == (held.count >= 4))
        }
        let seconds = held.map { $0.map { Int($0.milliseconds / 1000) } ?? -1 }
        #expect(seconds == [0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600, 600])
        #expect(noted.indices.filter { noted[$0] } == [3])
    }

    /// What is lost a minute after it was set, besides the time for which it was held back, is no contest.
    @Test func lossThatComesLate_beginsTheCountAnew() {
        for (delay, isContest) in [(Duration.seconds(63), true), (.seconds(64), false)] {
            var setting = BondableSetting()
            for _ in 0..<3 { _ = lose(&setting, askedAt: setting.wakeTime ?? .origin, after: .zero) }
            let loss = lose(&setting, askedAt: Duration.seconds(100).moment, after: delay)
            #expect(loss.isNoted == isContest)
            #expect(setting.isContested == isContest)
            #expect(loss.held == (isContest ? .seconds(8) : nil))
            // Of the new count the first is this one.
            if !isContest {
                let next = lose(&setting, askedAt: Duration.seconds(200).moment, after: .zero)
                #expect(next.held == .seconds(2))
            }
        }
    }

    @Test func lossThatNobodyAskedBack_isAskedForAtOnce() {
        var setting = BondableSetting()
        #expect(setting.lost(at: .origin).isEmpty)
        #expect(setting.wakeTime == nil)
        #expect(setting.request(lastAttempt: nil, at: .origin) == true)
    }

    @Test func heldBack_ends_atItsTime_andWithAnAttemptOfItsOwn() {
        var setting = BondableSetting()
        for _ in 0..<2 { _ = lose(&setting, askedAt: setting.wakeTime ?? .origin, after: .seconds(1)) }
        // Asked for at 1 s, lost at 2 s, held back until 4 s.
        #expect(setting.wakeTime == .seconds(4))
        for (attempt, now, isAsked) in [
            (nil, 3, false), (nil, 4, true), (1, 3, false), (2, 3, true),
        ] as [(Int?, Int, Bool)] {
            var copy = setting
            #expect(copy.request(lastAttempt: attempt.map { .seconds($0) }, at: .seconds(now)) == isAsked)
            // The same attempt asks once.
            if isAsked { #expect(copy.request(lastAttempt: attempt.map { .seconds($0) }, at: .seconds(3)) == false) }
        }
    }

    /// bluetoothd switches it off as our agent goes: that is nobody's contest, once, and within five seconds.
    @Test func agentsFarewell_isNoLoss_onceAndNotForLong() {
        for (delay, isForgiven) in [(4999, true), (5000, false)] {
            var setting = BondableSetting()
            for _ in 0..<2 { _ = lose(&setting, askedAt: setting.wakeTime ?? .origin, after: .zero) }
            let asked = setting.wakeTime ?? .origin
            #expect(setting.request(lastAttempt: nil, at: asked) == true)
            setting.agentLeaves(at: asked)
            #expect(setting.lost(at: asked + .milliseconds(delay)).isEmpty)
            #expect((setting.wakeTime == nil) == isForgiven)
            let next = setting.lost(at: asked + .milliseconds(delay))
            #expect(next.isEmpty == isForgiven)
        }
    }
}
