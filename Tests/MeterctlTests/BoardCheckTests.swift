import Foundation
import GatewayAPI
import MeterTestKit
import ProgramKit
import Testing

@testable import meterctl

/// What doctor says of a small computer's own radio, from made trees on.
struct BoardCheckTests {
    private let folder: TemporaryFolder
    private var root: String { folder.path }

    init() throws {
        folder = try TemporaryFolder()
        try write("Raspberry Pi 4 Model B Rev 1.4\0", to: "/proc/device-tree/model")
        try write("", to: "/dev/kmsg")
    }

    private func write(_ text: String, to path: String) throws {
        let path = root + path
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// The Pi's own adapter: behind a UART, by a serial device.
    private func addOwnAdapter() throws {
        let serial = "/sys/devices/platform/soc/fe201000.serial/serial0/serial0-0"
        try write("", to: "\(serial)/bluetooth/hci0/type")
        try write("", to: "/sys/bus/serial/drivers_autoprobe")
        for (path, target) in [
            "\(serial)/subsystem": "/sys/bus/serial", "/sys/class/bluetooth/hci0": "\(serial)/bluetooth/hci0",
            "\(serial)/bluetooth/hci0/device": serial,
        ] {
            let folder = (root + path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: root + path, withDestinationPath: root + target)
        }
    }

    private func facts(frequency: Int? = nil) -> MachineFacts {
        var reader = MachineReader(root: root)
        reader.wirelessFrequency = { _ in frequency }
        return reader.facts(user: 65_534, storeFolder: nil)
    }

    private func findings(_ facts: MachineFacts, adapters: [AdapterStatus] = []) -> [Finding] {
        Checkup(machine: facts, daemon: .fails(CommandFailure(.daemonNotRunning, "none", next: "start it")))
            .radios(adapters)
    }

    // MARK: disable-bt

    @Test(arguments: [
        ("/boot/firmware/config.txt", "dtoverlay=disable-bt"), ("/boot/config.txt", "dtoverlay=pi3-disable-bt"),
    ])
    func radioThatTheFirmwareSwitchesOff_isNamedWithItsLine(file: String, line: String) throws {
        try write("# dtoverlay=vc4-kms-v3d\narm_64bit=1\n[all]\n \(line)\n", to: file)
        let facts = facts()
        #expect(facts.radioSwitchedOff == MachineFacts.Line(file: file, text: line))

        let found = findings(facts).filter { $0.check == "adapter" }
        #expect(
            found == [
                Finding(
                    "adapter", .problem,
                    "the Bluetooth of this Raspberry Pi 4 Model B Rev 1.4 is switched off by \"\(line)\" in \(file)",
                    next:
                        "remove that line and restart; if something else needs the UART at the pins, use a USB adapter"
                )
            ])
    }

    @Test func lineThatIsCommentedOut_orOnAnotherBoard_saysNothing() throws {
        try write("#dtoverlay=disable-bt\ndtoverlay=disable-wifi\n", to: "/boot/firmware/config.txt")
        #expect(facts().radioSwitchedOff == nil)
        try write("dtoverlay=disable-bt\n", to: "/boot/firmware/config.txt")
        #expect(facts().radioSwitchedOff != nil)
        try write("Some Board\0", to: "/proc/device-tree/model")
        #expect(facts().radioSwitchedOff == nil)
    }

    @Test func radioThatIsThere_isNotCalledOff() throws {
        try write("dtoverlay=disable-bt\n", to: "/boot/firmware/config.txt")
        try addOwnAdapter()
        #expect(findings(facts()).allSatisfy { !$0.message.contains("switched off") })
    }

    // MARK: Supply, antenna

    @Test func supplyThatIsTooLow_isAProblem() throws {
        try write("cpu_thermal\n", to: "/sys/class/hwmon/hwmon0/name")
        try write("rpi_volt\n", to: "/sys/class/hwmon/hwmon1/name")
        try write("0\n", to: "/sys/class/hwmon/hwmon1/in0_lcrit_alarm")
        #expect(facts().isUnderVoltage == false)
        #expect(findings(facts()).allSatisfy { $0.check != "supply" })

        try write("1\n", to: "/sys/class/hwmon/hwmon1/in0_lcrit_alarm")
        let finding = findings(facts()).first { $0.check == "supply" }
        #expect(finding?.verdict == .problem)
        #expect(finding?.message == "this board's supply is too low (under-voltage)")
        #expect(finding?.next?.hasPrefix("use the board's own supply") == true)
    }

    @Test(arguments: [
        (Int?.none, Finding.Verdict.note, "wlan0"), (2437, .note, "2437 MHz, in Bluetooth's own band"),
        (5180, .ok, "5180 MHz, out of Bluetooth's band"),
    ])
    func wirelessBesideTheChip_isJudgedByItsBand(frequency: Int?, verdict: Finding.Verdict, end: String) throws {
        try addOwnAdapter()
        try write("", to: "/sys/class/net/wlan0/wireless/x")
        try write("up\n", to: "/sys/class/net/wlan0/operstate")

        let finding = findings(facts(frequency: frequency)).first { $0.check == "coexistence" }
        #expect(finding?.verdict == verdict)
        #expect(finding?.message.hasSuffix(end) == true)
        #expect((finding?.next == nil) == (verdict == .ok))
    }

    // MARK: The kernel's log

    @Test func commandsWithoutAnswer_areCounted_fromTheKernelsLog() throws {
        try addOwnAdapter()
        try write(
            """
            6,412,3456789,-;Bluetooth: hci0: BCM: chip id 107
            3,501,9456789,-;Bluetooth: hci0: command 0x0c03 tx timeout
            3,502,9556789,-;Bluetooth: hci0 command 0x200c tx timeout
            3,503,9656789,-;usb 1-1: command 0x0001 tx timeout
            3,504,9756789,-;Bluetooth: hciX: command 0x0001 tx timeout
            3,505,9856789,-;Bluetooth: hci0: command 0xfffff tx timeout
             CONTINUED=x

            """, to: "/dev/kmsg")
        let facts = facts()
        #expect(facts.adapters == [MachineFacts.Adapter(name: "hci0", serialDevice: "serial0-0")])
        #expect(
            facts.commandTimeouts == [MachineFacts.CommandTimeouts(adapter: "hci0", count: 2, opcode: 0x200C)])

        let finding = findings(facts).first { $0.check == "chip" }
        #expect(finding?.verdict == .problem)
        #expect(
            finding?.message
                == "hci0 left 2 commands of the kernel unanswered since the start, the last one 0x200c")
        #expect(finding?.next?.contains("rebinds its serial device") == true)
        #expect(findings(facts, adapters: [.searching]).first { $0.check == "chip" }?.verdict == .note)
    }

    @Test func logThatMayNotBeRead_isSaid_whereThereIsAnAdapter() throws {
        try addOwnAdapter()
        try FileManager.default.removeItem(atPath: root + "/dev/kmsg")
        let facts = facts()
        #expect(facts.commandTimeouts == nil)
        let finding = findings(facts).first { $0.check == "kernel log" }
        #expect(finding?.verdict == .note)
        #expect(finding?.next == "sudo meterctl doctor")
    }

    @Test func logWithoutTimeouts_isNothingToSay() throws {
        try addOwnAdapter()
        #expect(facts().commandTimeouts?.isEmpty == true)
        #expect(findings(facts()).allSatisfy { $0.check != "chip" && $0.check != "kernel log" })
    }

    // MARK: Another search

    @Test func searchOfAnotherProgram_isSaid() throws {
        var adapter = AdapterStatus.searching
        adapter.discovery = .own
        #expect(findings(facts(), adapters: [adapter]).allSatisfy { $0.check != "discovery" })
        adapter.discovery = .another
        let finding = findings(facts(), adapters: [adapter]).first { $0.check == "discovery" }
        #expect(finding?.verdict == .note)
        #expect(
            finding?.message
                == "another program searches over hci0, so meterd hears what that one hears and begins no search")
        #expect(finding?.next?.contains("bluetoothctl scan off") == true)
    }
}
