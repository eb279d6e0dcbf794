import BluetoothCore
import MeterModel
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
}
