import Foundation
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct DoctorTests {
    private func machine(_ change: (inout MachineFacts) -> Void = { _ in }) -> MachineFacts {
        var facts = MachineFacts(user: "meterd")
        facts.kernel = "6.12.1"
        facts.ports = [MachineFacts.Node(path: "/dev/ttyACM0", group: "dialout", mode: 0o660, isOpen: true)]
        facts.isClockSynchronised = true
        facts.freeSpace = MachineFacts.FreeSpace(folder: "/var/lib/meterd", bytes: 5_000_000_000)
        change(&facts)
        return facts
    }

    private func meter(_ state: String, wanted: Bool = true, error: String? = nil) -> MeterStatus {
        var status = MeterStatus(
            id: "02:00:00:00:25:0C", state: state, since: "2026-11-21T13:40:05.250Z", local_only: false,
            wanted: wanted, counters: .init())
        status.name = "Bench"
        status.error = error
        return status
    }

    private func answers(
        _ meters: [MeterStatus], store: StoreStatus? = nil, cloud: CloudStatus? = nil
    ) -> Checkup.DaemonFacts {
        .answers(
            .current,
            GatewayStatus(
                meters: meters,
                store: store ?? StoreStatus(path: "/var/lib/meterd/m", unsaved: 0, saved: 9, dropped: 0, error: nil)),
            cloud ?? CloudStatus(joined: false, host_id: "6f1c", host_name: "pi"))
    }

    private func findings(
        _ daemon: Checkup.DaemonFacts, _ machine: MachineFacts? = nil
    ) -> [Finding] {
        Checkup(machine: machine ?? self.machine(), daemon: daemon).findings
    }

    @Test func machineThatIsWell_hasNothingToDo() {
        let all = findings(answers([meter("data-available")]))

        #expect(all.allSatisfy { $0.verdict == .ok && $0.next == nil })
        #expect(
            all.map(\.check) == ["daemon", "meters", "store", "cloud", "disk", "clock", "ports", "adapter", "kernel"])
    }

    @Test func daemonThatDoesNotRun_isTheProblem_andTheMachineIsLookedAtAllTheSame() {
        let failure = CommandFailure(
            .daemonNotRunning, "no meterd answers on /run/x", next: "sudo systemctl start meterd")

        let all = findings(.fails(failure))

        #expect(all.first == Finding("daemon", .problem, failure.message, next: failure.next))
        #expect(all.contains { $0.check == "ports" })
    }

    @Test func meterThatIsWanted_andSilent_isNamedWithItsError() {
        let all = findings(
            answers([meter("not-connected", error: "the port is gone"), meter("not-connected", wanted: false)]))

        #expect(
            all.filter { $0.check == "meters" } == [
                Finding(
                    "meters", .problem, "Bench is not-connected: the port is gone",
                    next: "meterctl status 02:00:00:00:25:0C shows how it goes")
            ])
    }

    @Test func portThatIsClosed_namesItsGroup_andTheCommand() {
        let closed = machine {
            $0.ports = [MachineFacts.Node(path: "/dev/ttyUSB0", group: "dialout", mode: 0o660, isOpen: false)]
        }

        #expect(
            findings(answers([]), closed).first { $0.check == "ports" }
                == Finding(
                    "ports", .problem, "/dev/ttyUSB0 is closed to meterd (group dialout, mode 660)",
                    next: "sudo usermod -aG dialout meterd, then start meterd anew"))
    }

    @Test(arguments: [
        (Int64(50_000_000), Finding.Verdict.problem), (500_000_000, .note), (5_000_000_000, .ok),
    ])
    func room_isJudged(bytes: Int64, verdict: Finding.Verdict) {
        let machine = machine { $0.freeSpace?.bytes = bytes }

        #expect(findings(answers([]), machine).first { $0.check == "disk" }?.verdict == verdict)
    }

    @Test func storeThatFails_isAProblem_andLostReadingsAreSaid() {
        let full = StoreStatus(path: "/m", unsaved: 7, saved: 0, dropped: 0, error: "no space is left")
        let lossy = StoreStatus(path: "/m", unsaved: 0, saved: 0, dropped: 12, error: nil)

        #expect(
            findings(answers([], store: full)).contains { $0.verdict == .problem && $0.message.contains("no space") })
        #expect(
            findings(answers([], store: lossy)).contains { $0.verdict == .note && $0.message.contains("12 readings") })
    }

    @Test func cloudThatIsAway_andAClockThatIsWrong_areProblems() {
        var cloud = CloudStatus(joined: true, host_id: "6f1c", host_name: "pi")
        cloud.zone = "home"
        cloud.clock_offset_ms = -75_000

        let all = findings(answers([], cloud: cloud))

        #expect(all.first { $0.check == "cloud" }?.verdict == .problem)
        #expect(all.first { $0.check == "clock" }?.message == "this machine's clock is 75 s behind the cloud's")
    }

    @Test func whatDisturbsMeters_isSaid() {
        let machine = machine {
            $0.runsModemManager = true
            $0.powerzInterfaces = ["1-1.4:1.0"]
            $0.bluetoothSwitches = [
                MachineFacts.RadioSwitch(name: "hci0", isOffBySoftware: true, isOffByHardware: false)
            ]
            $0.isClockSynchronised = false
            $0.ports = []
        }

        let all = findings(answers([]), machine)

        #expect(all.first { $0.check == "modems" }?.verdict == .note)
        #expect(all.first { $0.check == "powerz" }?.verdict == .ok)
        #expect(all.first { $0.check == "rfkill" }?.next == "sudo rfkill unblock bluetooth")
        #expect(all.first { $0.check == "clock" }?.message.hasSuffix("goes on without power") == true)
        #expect(all.first { $0.check == "ports" }?.verdict == .note)
        #expect(all.first { $0.check == "meters" }?.next?.contains("meterd --demo") == true)
    }

    @Test func json_hasEveryKey() throws {
        #expect(
            try JSONOutput.line(Finding("disk", .ok, "room"))
                == #"{"check":"disk","message":"room","next":null,"verdict":"ok"}"#)
    }

    @Test func table_hasWhatToDo_belowWhatIs() {
        let table = Doctor.table([
            Finding("disk", .problem, "full", next: "make room"), Finding("kernel", .ok, "Linux"),
        ])

        #expect(
            table.lines == [
                "CHECK   VERDICT  WHAT IS, AND WHAT TO DO", "disk    problem  full", "                 → make room",
                "kernel  ok       Linux",
            ])
    }
}

/// The reader against a tree of files.
struct MachineReaderTests {
    private let root = FileManager.default.temporaryDirectory.path + "/machine-\(UUID().uuidString)"

    private func write(_ text: String, to path: String, mode: Int = 0o644) throws {
        let path = root + path
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func facts_areReadFromTheKernelsFiles() throws {
        // In the folder of temporary files a leftover does no harm.
        defer { try? FileManager.default.removeItem(atPath: root) }
        try write("6.12.1-rpi\n", to: "/proc/sys/kernel/osrelease")
        try write("ModemManager\n", to: "/proc/417/comm")
        try write("", to: "/dev/ttyACM0", mode: 0o666)
        try write("", to: "/dev/ttyUSB3", mode: 0o660)
        try write("", to: "/dev/tty0")
        try write("", to: "/sys/class/bluetooth/hci0/address")
        try write("", to: "/sys/class/bluetooth/hci0:64/x")
        for (file, text) in ["type": "bluetooth", "name": "hci0", "soft": "1", "hard": "0"] {
            try write(text + "\n", to: "/sys/class/rfkill/rfkill0/\(file)")
        }
        try write("wlan\n", to: "/sys/class/rfkill/rfkill1/type")
        try write("", to: "/sys/bus/usb/drivers/powerz/1-1.4:1.0/x")
        try write("", to: "/sys/bus/usb/drivers/powerz/bind")

        // "nobody", who is in no group.
        let facts = MachineReader(root: root).facts(user: 65_534, storeFolder: root)

        #expect(facts.kernel == "6.12.1-rpi")
        #expect(facts.ports.map(\.path) == ["\(root)/dev/ttyACM0", "\(root)/dev/ttyUSB3"])
        #expect(facts.ports.map(\.isOpen) == [true, false])
        #expect(facts.ports.map(\.mode) == [0o666, 0o660])
        #expect(facts.adapters == ["hci0"])
        #expect(
            facts.bluetoothSwitches == [
                MachineFacts.RadioSwitch(name: "hci0", isOffBySoftware: true, isOffByHardware: false)
            ])
        #expect(facts.powerzInterfaces == ["1-1.4:1.0"])
        #expect(facts.runsModemManager)
        #expect(!facts.hasHardwareClock)
        #expect((facts.freeSpace?.bytes ?? 0) > 0)
    }

    @Test func emptyMachine_isNoError() {
        let facts = MachineReader(root: "/nowhere").facts(user: 4_000_000_000, storeFolder: "/nowhere")

        #expect(facts.user == "4000000000")
        #expect(facts.kernel == nil && facts.ports.isEmpty && facts.freeSpace == nil)
    }
}
