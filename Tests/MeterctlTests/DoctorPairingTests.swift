import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct DoctorPairingTests {
    private func findings(_ pairing: PairingStatus?, bluetoothd: String? = "5.66") -> [Finding] {
        var machine = MachineFacts(user: "meterd")
        machine.bluetoothDaemon = bluetoothd
        let adapter = AdapterStatus(
            address: "00:AA:01:00:00:01", name: "hci0", state: .searching, since: "2026-07-30T12:00:00Z",
            pairing: pairing)
        let failure = CommandFailure(.error, "nobody answers", next: "start meterd")
        return Checkup(machine: machine, daemon: .fails(failure)).pairing([adapter])
    }

    private func agent(_ agent: PairingStatus.Agent?, _ error: String? = nil) -> PairingStatus {
        PairingStatus(bondable: true, agent: agent, error: error)
    }

    @Test func pairingThatIsOff_isAProblem() {
        let found = findings(PairingStatus(bondable: false, agent: .ready, error: nil)).first
        #expect(found?.verdict == .problem)
        #expect(found?.message.contains("(hci0): pairing is off (Bondable)") == true)
        #expect(found?.next?.contains("bluetoothctl pairable on") == true)
    }

    @Test(arguments: [
        (PairingStatus.Agent.ready, Finding.Verdict?.some(.ok)), (.standing, .ok), (.refused, .problem),
        (.unavailable, .problem), (.alone, .note),
    ])
    func agent_isJudged(agent: PairingStatus.Agent, verdict: Finding.Verdict?) {
        #expect(findings(self.agent(agent, "no bus")).first?.verdict == verdict)
    }

    @Test func withoutBluetoothd_nobodyHasToBeItsAgent() {
        #expect(findings(agent(.alone), bluetoothd: nil).isEmpty)
        #expect(findings(agent(.unavailable, "no bus"), bluetoothd: nil).isEmpty)
        #expect(findings(nil).isEmpty)
    }

    @Test func reason_andWhatToDo_areSaid() {
        let found = findings(agent(.refused, "org.freedesktop.DBus.Error.AccessDenied")).first
        #expect(found?.message.contains("AccessDenied") == true)
        #expect(found?.next?.contains("bluetoothctl pair ADDRESS") == true)
    }
}
