import Domain
import Testing

@testable import BluetoothCore

struct AdapterPhaseTests {
    private static let since = Duration.seconds(5).moment
    private static let until = Duration.seconds(90).moment

    /// Every phase there is, with the time at which it ends: free, and blocked by rfkill.
    private static let phases: [(AdapterPhase, listens: Bool, free: MonotonicTime?, blocked: MonotonicTime?)] = [
        (.settingUp, true, nil, nil), (.running, true, nil, nil),
        (.recovering(.switchingOff), true, nil, nil), (.recovering(.switchingOn), true, nil, nil),
        (.recovering(.resetting(since: since)), true, since + .seconds(15), since + .seconds(15)),
        (.off(until: nil), false, nil, nil), (.off(until: until), false, until, nil),
        (.forbidden(until: until), false, until, until),
    ]

    @Test func everyPhase_listensOrNot_andHasItsEnd() {
        for (phase, listens, free, blocked) in Self.phases {
            #expect(phase.isListening == listens, "\(phase)")
            #expect(phase.end(isBlocked: false, resetLimit: .seconds(15)) == free, "\(phase)")
            #expect(phase.end(isBlocked: true, resetLimit: .seconds(15)) == blocked, "\(phase)")
        }
    }

    /// As a person sees it: what is off or forbidden hears nothing, and a device that is not heard has not gone.
    @Test func machine_listens_untilItIsOffOrForbidden() {
        var probe = AdapterProbe()
        #expect(probe.machine.isListening)
        probe = .searching()
        #expect(probe.machine.isListening)
        probe.settings([])
        #expect(!probe.machine.isListening)
        probe = AdapterProbe()
        probe.answer(.success, ManagementSamples.bytes(of: AdapterProbe.dual))
        probe.answer(.permissionDenied)
        #expect(!probe.machine.isListening)
    }
}
