import BluetoothCore
import Domain
import Testing

struct ManagementTraceTests {
    private let meter = RadioAddress(MACAddress(bits: 0x0011_2233_4455), .lePublic)
    private let stranger = RadioAddress(MACAddress(bits: 0x0066_7788_99AA), .lePublic)

    private func words(_ trace: ManagementTrace) -> [String] {
        trace.entries.map { $0.content.words { $0 == meter } }
    }

    @Test func trace_hasTheLastOnes_theOldestFirst() {
        var trace = ManagementTrace()
        for number in 0..<UInt16(300) {
            trace.record(.command(opcode: number), of: 0, at: .origin + .seconds(Int(number)))
        }
        #expect(trace.entries.count == ManagementTrace.entriesMax)
        #expect(trace.entries.first?.content == .command(opcode: 44))
        #expect(trace.entries.last?.content == .command(opcode: 299))
        #expect(zip(trace.entries, trace.entries.dropFirst()).allSatisfy { $0.time < $1.time })
    }

    @Test func trace_saysWhatTheKernelTold() {
        var trace = ManagementTrace()
        trace.record(.command(opcode: 0x0023), of: 0, at: .origin)
        trace.record(ManagementEvent.commandStatus(opcode: 0x0023, .busy), of: 0, at: .origin)
        trace.record(ManagementEvent.discovering(.lowEnergy, isOn: true), of: 0, at: .origin)
        trace.record(ManagementEvent.indexRemoved, of: 0, at: .origin)
        #expect(
            words(trace) == [
                "command 0x0023", "answer to 0x0023: the adapter is busy with the same for another program (10)",
                "discovering: on", "adapter gone",
            ])
    }

    /// The address of somebody else's device is nobody's business, and a PIN is in no entry.
    @Test func strangers_areNotNamed() {
        var trace = ManagementTrace()
        trace.record(ManagementEvent.deviceConnected(stranger), of: 0, at: .origin)
        trace.record(ManagementEvent.pinCodeRequest(meter, isSecure: false), of: 0, at: .origin)
        trace.record(.command(opcode: ManagementCommand.pinCodeReply(meter, pin: "4711").opcode), of: 0, at: .origin)
        #expect(
            words(trace) == [
                "a stranger: connected", "\(meter.address): a PIN is asked for", "command 0x0016",
            ])
        #expect(!"\(trace)".contains("4711"))
    }

    /// What comes as often as devices are heard would push out all else.
    @Test func reports_andNamesAskedFor_areLeftOut() {
        var trace = ManagementTrace()
        trace.record(
            ManagementEvent.deviceFound(.init(address: stranger, rssi: nil, flags: [], data: [])), of: 0, at: .origin)
        trace.record(
            ManagementEvent.commandComplete(opcode: 0x0025, .success, parameters: []), of: 0, at: .origin)
        #expect(trace.entries.isEmpty)
    }

    /// A ring that was full keeps its order round after round.
    @Test(arguments: [1, 255, 256, 257, 511, 512, 513, 1000])
    func trace_keepsItsOrder_howeverOftenItWasFull(count: Int) {
        var trace = ManagementTrace()
        for number in 0..<count { trace.record(.other(UInt16(number)), of: 0, at: .origin) }
        let first = max(0, count - ManagementTrace.entriesMax)
        #expect(trace.entries.map(\.content) == (first..<count).map { .other(UInt16($0)) })
    }

    @Test func everyEvent_hasItsWords() {
        let events: [(ManagementEvent, String)] = [
            (.controllerError(0x1F), "controller error 0x1f"), (.indexAdded, "adapter there"),
            (.indexRemoved, "adapter gone"), (.newSettings([.powered, .classic]), "settings: 0x81"),
            (.discovering(.classic, isOn: false), "discovering: off"),
            (.discovering(.classic, isOn: true), "discovering: on"),
            (.deviceConnected(meter), "\(meter.address): connected"),
            (
                .deviceDisconnected(meter, .init(rawValue: 1)),
                "\(meter.address): disconnected: nothing was heard from the device (1)"
            ),
            (.connectFailed(meter, .connectFailed), "\(meter.address): connect failed: the device did not answer (4)"),
            (.pinCodeRequest(meter, isSecure: true), "\(meter.address): a PIN is asked for"),
            (
                .userConfirmationRequest(meter, isHint: true, value: 9), "\(meter.address): a confirmation is asked for"
            ),
            (.userPasskeyRequest(meter), "\(meter.address): a passkey is asked for"),
            (
                .authenticationFailed(meter, .authenticationFailed),
                "\(meter.address): authentication failed: the device refused the PIN or key (5)"
            ),
            (.newLinkKey(meter), "\(meter.address): paired"), (.deviceUnblocked(stranger), "a stranger: unblocked"),
            (.controllerSuspended(1), "event 0x002d"), (.controllerResumed, "event 0x002e"),
            (.other(code: 0x77), "event 0x0077"),
            (.commandComplete(opcode: 5, .success, parameters: []), "answer to 0x0005: it worked (0)"),
        ]
        for (event, expected) in events {
            var trace = ManagementTrace()
            trace.record(event, of: 3, at: .origin)
            #expect(words(trace) == [expected])
            #expect(trace.entries.map(\.index) == [3])
        }
        let reasons = (0...6).map { ManagementEvent.DisconnectReason(rawValue: $0).words }
        #expect(Set(reasons).count == 6)
        #expect(reasons[0] == reasons[6])
    }
}
