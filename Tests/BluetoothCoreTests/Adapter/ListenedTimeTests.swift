import CoreTestKit
import Domain
import Testing

@testable import BluetoothCore

struct ListenedTimeTests {
    /// Whatever comes on, goes off or is lost with its adapter: the sum of what was listened, and the number of its rounds.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func time_addsUp(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var listened = ListenedTime()
        var now = MonotonicTime.origin
        var (rounds, time) = (0, Duration.zero)
        var open: (since: MonotonicTime, part: Int)?
        for _ in 0..<60 {
            now = now + .seconds(2 * rng.below(20))
            let part = 1 + rng.below(2)
            switch rng.below(5) {
            case 0:
                listened.dropPresent()
                open = nil
            case let event:
                if let before = open {
                    time += (now - before.since) / before.part
                    rounds += 1
                }
                open = event < 3 ? (now, part) : nil
                listened.changed(isOn: event < 3, part: part, at: now)
            }
            let present = open.map { (now - $0.since) / $0.part } ?? .zero
            #expect(listened.mark(at: now) == ListenedTime.Mark(rounds: rounds, time: time + present), "seed \(seed)")
            let later = open.map { Duration.seconds(8) / $0.part } ?? .zero
            #expect(listened.mark(at: now + .seconds(8)).time == time + present + later, "seed \(seed)")
        }
    }
}
