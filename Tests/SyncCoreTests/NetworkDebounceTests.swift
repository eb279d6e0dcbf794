import Domain
import Testing

struct NetworkDebounceTests {
    private static let wifi = NetworkPath(isSatisfied: true, interface: "wlan0", kind: .wifi)

    private var debounce = NetworkDebounce()
    private var now = MonotonicTime.origin
    private var random: UInt64 = 0
    private var syncs: [Duration] = []

    private mutating func see(_ path: NetworkPath) {
        debounce.pathChanged(to: path, at: now, random: random)
    }

    /// Lets time pass, waking only when asked to, as a driver does.
    private mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let wake = debounce.nextWake, wake <= end {
            now = wake
            if debounce.woke(at: now) == .synchronise { syncs.append(now.sinceOrigin) }
        }
        now = end
    }

    @Test mutating func gainThatHolds_givesOneSync() {
        see(.lost)
        see(Self.wifi)
        pass(.milliseconds(2499))
        #expect(syncs.isEmpty)
        pass(.seconds(3600))
        #expect(syncs == [.milliseconds(2500)])
    }

    @Test mutating func wake_thatComesEarly_changesNothing() {
        see(.lost)
        see(Self.wifi)
        #expect(debounce.woke(at: now + .milliseconds(2499)) == .none)
        #expect(debounce.nextWake == now + .milliseconds(2500))
        #expect(debounce.woke(at: now + .milliseconds(2500)) == .synchronise)
        #expect(debounce.woke(at: now + .milliseconds(2500)) == .none)
    }

    @Test mutating func fiveFlapsInASecond_giveOneSync() {
        see(Self.wifi)
        for _ in 0..<5 {
            see(.lost)
            pass(.milliseconds(100))
            see(Self.wifi)
            pass(.milliseconds(100))
        }
        pass(.seconds(3600))
        #expect(syncs == [.milliseconds(900 + 2500)])
    }

    @Test mutating func gainThatIsLostWithinTheHold_givesNone() {
        see(.lost)
        see(Self.wifi)
        pass(.milliseconds(2400))
        see(.lost)
        pass(.seconds(3600))
        #expect(syncs.isEmpty)
    }

    @Test mutating func lossAlone_givesNone() {
        see(Self.wifi)
        pass(.seconds(10))
        see(.lost)
        pass(.seconds(3600))
        #expect(syncs.isEmpty)
    }

    @Test mutating func firstWord_isNoGain() {
        see(Self.wifi)
        pass(.seconds(3600))
        #expect(syncs.isEmpty)
    }

    @Test mutating func sameWordAgain_andAnotherInterface_changeNothing() {
        see(.lost)
        see(Self.wifi)
        pass(.seconds(2))
        see(Self.wifi)
        see(NetworkPath(isSatisfied: true, interface: "eth0", kind: .wired))
        pass(.seconds(3600))
        #expect((syncs, debounce.path?.kind) == ([.milliseconds(2500)], .wired))
    }

    @Test mutating func spread_liesBetweenNothingAndTwoSeconds() {
        var waits: Set<Duration> = []
        for number in UInt64(0)...4000 {
            random = number &* 0x9E37_79B9_7F4A_7C15
            see(.lost)
            let start = now
            see(Self.wifi)
            let wait = (debounce.nextWake ?? start) - start
            #expect(wait >= .milliseconds(2500) && wait <= .milliseconds(4500))
            waits.insert(wait)
            pass(.seconds(5))
        }
        #expect(waits.count > 900)
        #expect(syncs.count == 4001)
    }
}
