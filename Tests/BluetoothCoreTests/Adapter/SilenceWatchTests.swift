import Domain
import Testing

@testable import BluetoothCore

struct SilenceWatchTests {
    @Test func pause_doesNotCount() {
        var silence = SilenceWatch()
        silence.begin(at: .origin)
        silence.resume(after: Duration.seconds(10).moment, at: Duration.seconds(30).moment)
        #expect(silence.since == Duration.seconds(20).moment)
    }

    @Test func pauseFromBefore_countsFromTheBeginning() {
        var silence = SilenceWatch()
        silence.begin(at: Duration.seconds(10).moment)
        silence.resume(after: .origin, at: Duration.seconds(30).moment)
        #expect(silence.since == Duration.seconds(30).moment)
    }

    @Test func whatIsNotMeantToRun_isNotCounted() {
        var silence = SilenceWatch()
        silence.heard(at: .origin)
        silence.restart(at: .origin)
        silence.resume(after: .origin, at: .origin)
        #expect(silence.since == nil)
        #expect(silence.hasEverHeard)
    }
}
