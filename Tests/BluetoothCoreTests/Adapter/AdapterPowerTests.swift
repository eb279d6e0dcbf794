import Domain
import Testing

@testable import BluetoothCore

struct AdapterPowerTests {
    private let timing = AdapterTiming()

    /// The time for which each switching off is respected, where they come so long after one another.
    private func graces(every interval: Duration, count: Int) -> [Duration] {
        var power = AdapterPower(block: RadioBlock())
        return (0..<count).map { number in
            let now = (interval * number).moment
            return power.respectOff(at: now, timing).map { $0 - now } ?? .zero
        }
    }

    @Test func off_isRespectedLongerEachTime_upToAnHour() {
        #expect(
            graces(every: .seconds(60), count: 10)
                == [20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600].map { .seconds($0) })
    }

    @Test func off_countsAnew_anHourAfterTheLast() {
        #expect(graces(every: .seconds(3599), count: 3) == [.seconds(20), .seconds(40), .seconds(80)])
        #expect(graces(every: .seconds(3600), count: 3) == [.seconds(20), .seconds(20), .seconds(20)])
    }

    @Test(arguments: [RadioBlock(isSoft: true), RadioBlock(isHard: true), RadioBlock(isSoft: true, isHard: true)])
    func blockedAdapter_waitsForNoTime_andEndsNoPatience(block: RadioBlock) {
        var power = AdapterPower(block: block)
        #expect(power.isBlocked)
        #expect(power.respectOff(at: .origin, timing) == nil)
        let isNews = power.blockChanged(block)
        #expect(!isNews)
        let isOver = power.blockChanged(RadioBlock())
        #expect(isOver)
        #expect(!power.isBlocked)
        #expect(power.respectOff(at: .origin, timing) == timing.offGrace.moment)
    }

    @Test func trouble_namesWhatHoldsIt_theSwitchFirst() {
        for (block, words) in [
            (RadioBlock(), "rfkill block bluetooth"), (RadioBlock(isSoft: true), "rfkill unblock bluetooth"),
            (RadioBlock(isHard: true), "by a switch"), (RadioBlock(isSoft: true, isHard: true), "by a switch"),
        ] {
            #expect(AdapterPower(block: block).trouble.contains(words), "\(block)")
        }
    }
}
