import Domain
import Foundation
import GatewayAPI
import MeterCodec
import ProgramKit
import Testing
import USBTransport

@testable import meterctl

struct DoctorTests {
    private func machine(_ change: (inout MachineFacts) -> Void = { _ in }) -> MachineFacts {
        var facts = MachineFacts(user: "meterd")
        facts.kernel = "6.12.1"
        facts.ports = [MachineFacts.Node(path: "/dev/ttyACM0", group: "dialout", mode: 0o660, isOpen: true)]
        facts.isClockSynchronised = true
        facts.freeSpace = MachineFacts.FreeSpace(folder: "/var/lib/meterd", bytes: 5_000_000_000)
        facts.udevRules = ["60-meter-gateway.rules"]
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
        _ meters: [MeterStatus], adapters: [AdapterStatus] = [.searching], store: StoreStatus? = nil,
        cloud: CloudStatus? = nil, page: WebStatus? = .served, broker: BrokerStatus? = BrokerStatus()
    ) -> Checkup.DaemonFacts {
        .answers(
            Checkup.Answers(
                version: .current,
                status: GatewayStatus(
                    meters: meters, adapters: adapters,
                    store: store
                        ?? StoreStatus(path: "/var/lib/meterd/m", unsaved: 0, saved: 9, dropped: 0, error: nil)),
                cloud: cloud ?? CloudStatus(joined: false, host_id: "6f1c", host_name: "pi"), page: page,
                broker: broker))
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
            all.map(\.check) == [
                "daemon", "meters", "store", "cloud", "page", "disk", "clock", "ports", "udev rules", "adapter",
                "kernel",
            ])
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
                    next: "meterctl status 02:00:00:00:25:0C shows the details")
            ])
    }

    @Test func meterWithData_isNamed_whereSomethingIsWrongAllTheSame() {
        let all = findings(answers([meter("data-available", error: "load measures in \"VA\"")]))
        #expect(
            all.filter { $0.check == "meters" }.map(\.message) == [
                "1 known, every one that is wanted has data", "Bench has data, but: load measures in \"VA\"",
            ])
    }

    @Test func serialNumberOfSeveralMeters_isNamed_hereAndAtAnotherHost() {
        var twin = meter("not-connected", error: "pi1 has it")
        twin.id = "usb:2e3c:5558:S1"
        var lease = LeaseStatus(.elsewhere)
        (lease.holder, lease.transport) = ("pi1", "usb")
        twin.lease = lease
        let device = USBSelfDescription(vendor: 0x2E3C, product: 0x5558, productText: "FNB-58")
        let facts = machine {
            $0.sharedSerials = [
                SharedSerial(device: device, serial: "S1", ports: ["1-1", "1-2"], isKnown: false),
                SharedSerial(device: device, serial: "0001A0000000", ports: ["1-3"], isKnown: true),
            ]
        }

        let all = findings(answers([twin]), facts)

        let meters = all.filter { $0.check == "meters" }
        #expect(meters.map(\.message) == ["usb:2e3c:5558:S1 is plugged in here and at pi1"])
        #expect(meters.first?.next?.contains("meterctl unalias usb:2e3c:5558:S1") == true)
        #expect(
            all.filter { $0.check == "serial" }.map(\.message) == [
                "the meters in 1-1, 1-2 (2e3c:5558 FNB-58) have one serial number, S1",
                "the meter in 1-3 (2e3c:5558 FNB-58) has the serial number 0001A0000000, as others have",
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
                    next: "sudo usermod -aG dialout meterd, then restart meterd"))
    }

    @Test func deviceOfAMetersVendor_thatNothingKnows_isNamed() {
        func plugged(_ device: USBSelfDescription, _ nodes: [String]) -> [Finding] {
            let verdict = DeviceTable.builtIn.identify(device)
            let facts = machine { $0.unclaimed = [UnclaimedDevice(nodes: nodes, device: device, verdict: verdict)] }
            return findings(answers([]), facts).filter { ["unrecognised", "unread"].contains($0.check) }
        }
        let unknown = USBSelfDescription(
            vendor: 0x2E3C, product: 0x1234, manufacturerText: "FNIRSI", productText: "FNB-99", nodes: [.hidraw])
        #expect(
            plugged(unknown, ["hidraw3"]).map(\.message) == [
                "/dev/hidraw3 looks like a meter, not recognised: 2e3c:1234 FNIRSI FNB-99, please report it"
            ])
        // A meter's ids, and nothing else that says so.
        let shizuku = USBSelfDescription(vendor: 0x0483, product: 0xFFFF, nodes: [.tty])
        #expect(plugged(shizuku, ["ttyACM3"]).map(\.check) == ["unread"])
        #expect(
            plugged(shizuku, ["ttyACM3"]).first?.message.hasPrefix(
                "/dev/ttyACM3 (0483:ffff) is a YK-Lab meter (AVHzY CT-3 or Shizuku): its text does not end in Application Mode"
            )
                == true)
        // Known, and no meter; and an adapter that anything may be behind.
        #expect(plugged(USBSelfDescription(vendor: 0x2E3C, product: 0x5740, nodes: [.tty]), ["ttyACM0"]).isEmpty)
        #expect(plugged(USBSelfDescription(vendor: 0x1A86, product: 0x7523, nodes: [.tty]), ["ttyUSB0"]).isEmpty)
    }

    @Test func adapterThatDropsWhatLooksLikeMeters_saysSo() {
        var adapter = AdapterStatus.searching
        adapter.dropped = 2
        let finding = findings(answers([], adapters: [adapter])).first { $0.check == "adapter" }
        #expect(finding?.verdict == .note)
        #expect(finding?.message.contains("heard 2 devices that look like meters and are not shown") == true)
        #expect(finding?.next == "meterctl scan --all says why")
    }

    @Test(arguments: [
        (ScanNodes.told { $0.browses = false }, Finding.Verdict?.none, "", ""),
        (ScanNodes(), .ok, "no ESPHome node answers that meterd.toml does not name", ""),
        (
            .told { ($0.error, $0.next) = ("Avahi does not run here", "sudo apt-get install avahi-daemon") }, .note,
            "meterd does not look for Bluetooth proxies in the network: Avahi does not run here",
            "sudo apt-get install avahi-daemon"
        ),
        (.told([.garage { $0.configured = true }]), .ok, "no ESPHome node answers that meterd.toml does not name", ""),
        (
            .told([.garage { $0.looks_like_proxy = true }, .garage("shed")]) { $0.more = true }, .note,
            "ESPHome nodes in the network, not used by meterd: garage at garage.local (is a Bluetooth proxy), shed at "
                + "shed.local (may be a Bluetooth proxy) and many more",
            "[[bluetooth.proxy]] and below it host = \"garage.local\", key-file = \"/etc/meterd/garage-key\", "
                + "name = \"garage\""
        ),
        (
            .told([.garage { $0.configured = true }, .garage("shed") { ($0.encrypted, $0.port) = (false, 6054) }]), .ok,
            "ESPHome nodes in the network, not used by meterd: shed at shed.local:6054 (may be a Bluetooth proxy)",
            "host = \"shed.local:6054\", plaintext = true, name = \"shed\""
        ),
        (
            .told(["a", "b", "c", "d", "e"].map { .garage($0) }), .ok,
            "ESPHome nodes in the network, not used by meterd: a at a.local (may be a Bluetooth proxy), b at b.local (may"
                + " be a Bluetooth proxy), c at c.local (may be a Bluetooth proxy) and 2 more",
            "host = \"a.local\", key-file = \"/etc/meterd/a-key\", name = \"a\""
        ),
    ])
    func node_isOffered_unlessMeterdHasIt(nodes: ScanNodes, verdict: Finding.Verdict?, words: String, next: String) {
        let found = Checkup.nodes(nodes).first
        #expect(found?.verdict == verdict)
        #expect(found?.message ?? "" == words)
        #expect(found?.next?.hasSuffix(next) ?? next.isEmpty, "\(found?.next ?? "")")
    }

    @Test func proxy_isItsOwnCheck_withItsRemedy() {
        var proxy = AdapterStatus.searching
        (proxy.name, proxy.proxy) = ("garage.local", ProxyStatus(name: "garage", version: "2026.6.5", encrypted: true))
        #expect(findings(answers([], adapters: [proxy])).first { $0.check == "proxy" }?.verdict == .ok)
        (proxy.state, proxy.error) = (.failed, "garage.local has another key. Compare the file.")
        let finding = findings(answers([], adapters: [proxy])).first { $0.check == "proxy" }
        #expect(finding?.verdict == .problem)
        #expect(finding?.message.contains("(garage.local) is failed: garage.local has another key.") == true)
    }

    @Test func meterBehindANodeOfRoots_asksForTheRules() {
        let closed = machine {
            $0.ports = [
                MachineFacts.Node(path: "/dev/hidraw0", model: .fnb58, group: "root", mode: 0o600, isOpen: false)
            ]
            $0.udevRules = []
        }

        let all = findings(answers([]), closed)

        #expect(
            all.first { $0.check == "ports" }
                == Finding(
                    "ports", .problem, "/dev/hidraw0 (FNB58) is closed to meterd (group root, mode 600)",
                    next: "install the udev rules (udev/README.md) and plug it in again"))
        #expect(all.first { $0.check == "udev rules" }?.verdict == .problem)
    }

    @Test(arguments: [
        (AdapterStatus.State.searching, Finding.Verdict.ok), (.idle, .ok), (.starting, .ok), (.recovering, .note),
        (.blocked, .problem), (.failed, .problem), (.forbidden, .problem), (.gone, .problem),
    ])
    func adapter_isJudged(state: AdapterStatus.State, verdict: Finding.Verdict) {
        var adapter = AdapterStatus.searching
        adapter.state = state
        adapter.error = verdict == .ok ? nil : "it hears nothing"

        let found = findings(answers([], adapters: [adapter])).first { $0.check == "adapter" }
        #expect(found?.verdict == verdict)
        #expect(found?.message.hasPrefix("00:AA:01:00:00:01 (hci0)") == true)
        #expect(verdict == .ok || found?.message.contains("it hears nothing") == true)
    }

    @Test func adapterThatIsGone_isNoProblem_whereAnotherHearsMeters() {
        var gone = AdapterStatus.searching
        gone.state = .gone
        gone.error = "It was unplugged."

        let found = findings(answers([], adapters: [.searching, gone])).filter { $0.check == "adapter" }
        #expect(found.map(\.verdict) == [.ok, .note])
        #expect(found.last?.next == "It was unplugged.")
    }

    @Test func radios_areLookedAtBeyondTheDaemon() {
        let pi = machine {
            $0.adapters = [.init(name: "hci0"), .init(name: "hci1", usb: .init(vendor: 0x0A12, product: 1))]
            $0.boardModel = "Raspberry Pi 4 Model B Rev 1.4"
            $0.wirelessInterface = "wlan0"
            $0.bluetoothDaemon = "5.66"
        }

        let all = findings(answers([], adapters: []), pi)

        #expect(all.contains { $0.check == "adapter" && $0.message == "hci0, hci1: meterd uses none of them" })
        #expect(all.contains { $0.check == "adapter" && $0.message.hasPrefix("hci1 calls itself a CSR8510") })
        #expect(all.first { $0.check == "coexistence" }?.message.contains("wlan0") == true)
        #expect(all.first { $0.check == "bluetoothd" }?.message.hasPrefix("BlueZ 5.66 runs beside meterd") == true)
    }

    @Test func machineWithoutARadio_isToldSo() {
        let all = findings(answers([], adapters: []))
        #expect(all.first { $0.check == "adapter" }?.message.contains("the kernel has no Bluetooth loaded") == true)
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

    @Test(arguments: [
        (BackupStatus(directory: "/b"), Finding.Verdict.ok, "/b: none yet"),
        (
            BackupStatus(directory: "/b", written: "2026-11-29T22:30:00.000Z", age_ms: 10_800_000), .ok,
            "/b: the last good one is 3 h old"
        ),
        (
            BackupStatus(directory: "/b", written: "2026-11-29T22:30:00.000Z", error: "the disk is full"), .problem,
            "the disk is full; the last good one is of unknown age, dated 2026-11-29T22:30:00.000Z"
        ),
    ])
    func backup_isJudged_withItsAge(backup: BackupStatus, verdict: Finding.Verdict, words: String) {
        var store = StoreStatus(path: "/m", unsaved: 0, saved: 0, dropped: 0, error: nil)
        #expect(!findings(answers([], store: store)).contains { $0.check == "backup" })
        store.backup = backup

        let finding = findings(answers([], store: store)).first { $0.check == "backup" }

        #expect(finding?.verdict == verdict)
        #expect(finding?.message == words)
    }

    @Test func crowdedStore_isNoted_withWhatTakesTheRoom() {
        let store = StoreStatus(
            path: "/m", unsaved: 0, saved: 0, dropped: 0, error: nil, crowding: "settings take 57.0 MB")

        let finding = findings(answers([], store: store)).first { $0.check == "store" }

        #expect(finding?.verdict == .note)
        #expect(finding?.message == "/m is larger than its limit: settings take 57.0 MB")
        #expect(finding?.next?.contains("max-megabytes") == true)
    }

    @Test func cloudThatIsAway_andAClockThatIsWrong_areProblems() {
        var cloud = CloudStatus(joined: true, host_id: "6f1c", host_name: "pi")
        cloud.zone = "home"
        cloud.clock_offset_ms = -75_000

        let all = findings(answers([], cloud: cloud))

        #expect(all.first { $0.check == "cloud" }?.verdict == .problem)
        #expect(all.first { $0.check == "clock" }?.message == "this machine's clock is 75 s behind the cloud's")
    }

    @Test func hostThatMayOnlyLook_isFine_andSaidToBeOne() {
        var cloud = CloudStatus(joined: true, host_id: "6f1c", host_name: "pi", connected: true)
        (cloud.zone, cloud.role) = ("home", "readOnly")

        let finding = findings(answers([], cloud: cloud)).first { $0.check == "cloud" }

        #expect(finding == Finding("cloud", .ok, "member of the zone home as pi, which may only look"))
    }

    private func pageFindings(_ change: (inout WebStatus) -> Void) -> [Finding] {
        var page = WebStatus.served
        change(&page)
        return findings(answers([], page: page)).filter { ["page", "announcement"].contains($0.check) }
    }

    @Test func page_isSaid_withWhatTheNetworkFindsItBy() {
        #expect(
            pageFindings { $0.announced = "meterd on pi" }.first?.message.hasSuffix(", announced as meterd on pi")
                == true)
        #expect(
            pageFindings { ($0.announcement_error, $0.announcement_next) = ("Avahi does not run here", "start it") }
                .last
                == Finding(
                    "announcement", .note, "the page is not announced: Avahi does not run here", next: "start it"))
        guard case .answers(var facts) = answers([]) else { return }
        facts.nodes = .told { $0.error = "Avahi does not run here" }
        #expect(findings(.answers(facts)).map(\.check).contains("network"))
        facts.page?.announcement_error = "Avahi does not run here"
        #expect(!findings(.answers(facts)).map(\.check).contains("network"))
    }

    @Test func page_isSaid_withWhoReachesIt() {
        #expect(
            pageFindings { _ in } == [Finding("page", .ok, "http://127.0.0.1:8642/, for this machine alone")])
        #expect(
            pageFindings { $0.enabled = true }
                == [Finding("page", .ok, "http://127.0.0.1:8642/, with a login")])
        #expect(
            pageFindings { ($0.enabled, $0.warning) = (true, "it is plain") } == [
                Finding(
                    "page", .note, "http://127.0.0.1:8642/, with a login; it is plain",
                    next: "tls = \"self-signed\" below [web] in meterd.toml encrypts it")
            ])
        #expect(
            pageFindings { ($0.serving, $0.listen) = (false, "") }
                == [Finding("page", .ok, "not served, as [web] serve is false")])
        #expect(pageFindings { $0.serving = false }.map(\.verdict) == [.note])
        #expect(findings(answers([], page: nil)).allSatisfy { $0.check != "page" })
    }

    @Test(
        arguments: [
            (nil, "f", 14, nil), (nil, "f", 13, "it ends at 2027"), (nil, "f", -1, "it ended at 2027"),
            ("it is missing", "f", 99, "an older certificate is in use: it is missing"),
            ("it is missing", nil, nil, "https is not served: it is missing"),
        ] as [(String?, String?, Int?, String?)])
    func certificate_isSaidWhereItIsNotGood(error: String?, fingerprint: String?, left: Int?, message: String?) {
        var page = WebStatus.served
        page.tls = WebTLSStatus(
            self_signed: false, fingerprint: fingerprint, ends: "2027", days_left: left, error: error)
        let found = findings(answers([], page: page)).filter { $0.check == "certificate" }
        #expect(found.map(\.message) == [message].compactMap { $0 })
        #expect(found.map(\.verdict) == (message == nil ? [] : left == 13 ? [.note] : [.problem]))
    }

    @Test func pageWhosePortIsTaken_isAProblem() {
        #expect(
            pageFindings { ($0.serving, $0.error, $0.next) = (false, "it is taken", "free it") }
                == [Finding("page", .problem, "it is taken", next: "free it")])
    }

    @Test func broker_isLookedAt_whereOneIsConfigured() {
        let known = BrokerStatus(url: "mqtt://localhost:1883")

        #expect(findings(answers([], broker: known)).map(\.check).firstIndex(of: "broker") == 5)
        #expect(findings(answers([], broker: BrokerStatus())).allSatisfy { $0.check != "broker" })
        #expect(findings(answers([], broker: nil)).allSatisfy { $0.check != "broker" })
    }

    @Test func timeSeriesDatabase_isLookedAt_whereOneIsConfigured() {
        for (influx, isThere) in [
            (InfluxStatus(url: "http://influx.lan"), true), (InfluxStatus(), false), (nil, false),
        ] {
            var facts = answers([], broker: nil)
            if case .answers(var known) = facts {
                known.influx = influx
                facts = .answers(known)
            }
            #expect(findings(facts).contains { $0.check == "influx" } == isThere)
        }
    }

    @Test func whatDisturbsMeters_isSaid() {
        let machine = machine {
            $0.runsModemManager = true
            $0.powerzInterfaces = ["1-1.4:1.0"]
            $0.bluetoothSwitches = [
                MachineFacts.RadioSwitch(name: "hci0", isOffBySoftware: true, isOffByHardware: false)
            ]
            $0.isClockSynchronised = false
            $0.udevRules = []
            $0.ports = []
        }

        let all = findings(answers([]), machine)

        #expect(all.first { $0.check == "modems" }?.verdict == .note)
        #expect(all.first { $0.check == "powerz" }?.verdict == .ok)
        #expect(all.first { $0.check == "rfkill" }?.next == "sudo rfkill unblock bluetooth")
        #expect(all.first { $0.check == "clock" }?.message.hasSuffix("no battery-backed clock") == true)
        #expect(all.first { $0.check == "ports" }?.verdict == .note)
        #expect(all.first { $0.check == "meters" }?.next?.contains("meterd --demo") == true)
    }

    @Test func json_hasEveryKey() throws {
        #expect(
            try JSONOutput.line(Finding("disk", .ok, "room"))
                == #"{"check":"disk","message":"room","next":null,"verdict":"ok"}"#)
    }

    @Test func table_hasWhatToDo_belowWhatIs() {
        let table = Doctor.table(
            [Finding("disk", .problem, "full", next: "make room"), Finding("kernel", .ok, "Linux")], .berlin)

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
        try write("0a12\n", to: "/sys/class/bluetooth/hci1/device/idVendor")
        try write("0001\n", to: "/sys/class/bluetooth/hci1/device/idProduct")
        try write("bluetoothd\n", to: "/proc/500/comm")
        try write("#!/bin/sh\necho 5.66\n", to: "/usr/libexec/bluetooth/bluetoothd", mode: 0o755)
        try write("x", to: "/usr/lib/udev/rules.d/61-meter-gateway-access.rules")
        try write("Raspberry Pi 5 Model B Rev 1.0\0", to: "/proc/device-tree/model")
        try write("", to: "/sys/class/net/wlan0/wireless/x")
        try write("up\n", to: "/sys/class/net/wlan0/operstate")
        try write("", to: "/dev/hidraw0", mode: 0o600)
        try write("", to: "/dev/hidraw1", mode: 0o600)
        for (node, ids) in ["hidraw0": ("2e3c", "5558"), "hidraw1": ("046d", "c31c")] {
            try write(ids.0 + "\n", to: "/sys/class/hidraw/\(node)/device/idVendor")
            try write(ids.1 + "\n", to: "/sys/class/hidraw/\(node)/device/idProduct")
        }
        for (file, text) in ["type": "bluetooth", "name": "hci0", "soft": "1", "hard": "0"] {
            try write(text + "\n", to: "/sys/class/rfkill/rfkill0/\(file)")
        }
        try write("wlan\n", to: "/sys/class/rfkill/rfkill1/type")
        try write("", to: "/sys/bus/usb/drivers/powerz/1-1.4:1.0/x")
        try write("", to: "/sys/bus/usb/drivers/powerz/bind")

        // "nobody", who is in no group.
        let facts = MachineReader(root: root).facts(user: 65_534, storeFolder: root)

        #expect(facts.kernel == "6.12.1-rpi")
        #expect(
            facts.ports.map(\.path) == ["ttyACM0", "ttyUSB3", "hidraw0"].map { "\(root)/dev/\($0)" })
        #expect(facts.ports.map(\.isOpen) == [true, false, false])
        #expect(facts.ports.map(\.mode) == [0o666, 0o660, 0o600])
        #expect(facts.ports.map(\.model) == [nil, nil, .fnb58])
        #expect(
            facts.adapters == [
                MachineFacts.Adapter(name: "hci0"),
                MachineFacts.Adapter(name: "hci1", usb: MachineFacts.USBIdentity(vendor: 0x0A12, product: 1)),
            ])
        #expect(facts.hasBluetooth)
        #expect(facts.udevRules == ["61-meter-gateway-access.rules"])
        #expect(facts.boardModel == "Raspberry Pi 5 Model B Rev 1.0")
        #expect(facts.wirelessInterface == "wlan0")
        #expect(facts.bluetoothDaemon == "5.66")
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

extension WebStatus {
    static let served = WebStatus(
        serving: true, enabled: false, listen: "127.0.0.1:8642", urls: ["http://127.0.0.1:8642/"])
}

extension AdapterStatus {
    static let searching = AdapterStatus(
        address: "00:AA:01:00:00:01", name: "hci0", state: .searching, since: "2026-11-21T13:40:05.250Z", links: 1,
        links_max: 5, heard: 12)
}

extension ScanNode {
    fileprivate static func garage(_ name: String = "garage", _ change: (inout Self) -> Void = { _ in }) -> Self {
        var node = ScanNode(name: name, host: "\(name).local", port: 6053)
        node.encrypted = true
        change(&node)
        return node
    }
}

extension ScanNodes {
    fileprivate static func told(_ nodes: [ScanNode] = [], _ change: (inout Self) -> Void = { _ in }) -> Self {
        var all = ScanNodes()
        all.nodes = nodes
        change(&all)
        return all
    }
}
