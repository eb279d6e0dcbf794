import Domain
import Foundation
import GatewayAPI
import MeterTestKit
import ProgramKit
import Testing

@testable import meterctl

struct SupportBundleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// What must not be in any bundle, each in a form in which it may get there.
    private enum Planted {
        static let host = "annas-laptop"
        static let otherHost = "cellar-of-berta"
        static let zone = "villa-musterfrau"
        static let user = "anna.musterfrau"
        static let wifi = "FritzBox-Musterfrau"
        static let password = "Rumpelstilzchen"
        static let token = "mgt_8fK3nQ0pVx7Lw2RzYt5UbHd9"
        static let pin = "sha256:Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg"
        static let serial = "FNB58-SERIAL-0042"
        static let meterName = "Annas Ladegeraet"
        static let stranger = "D4:3D:7E:12:34:56"
        static let address4 = "192.168.178.23"
        static let address6 = "2001:db8:85a3::8a2e:370:7334"
        static let brokerHost = "broker.musterfrau.example"
        static let proxyHost = "garage-of-anna.local"
        static let boardHost = "shelf-of-anna.local"
        static let hostID = "6f1cbb1e-3f0c-4a63-9f1e-0d9b7d0a4c11"

        static let all = [
            host, otherHost, zone, user, wifi, password, token, pin, serial, meterName, stranger, address4, address6,
            brokerHost, proxyHost, boardHost, hostID, "musterfrau",
            "garage-of-anna", "shelf-of-anna",
        ]
    }

    private let meterAddress = "41:B8:12:0A:A8:37"

    private var machine: MachineFacts {
        var facts = MachineFacts(user: Planted.user)
        facts.kernel = "6.12.34+rpt-rpi-v8"
        facts.system = "Debian GNU/Linux 13 (trixie)"
        facts.boardModel = "Raspberry Pi 4 Model B Rev 1.4"
        facts.wirelessInterface = "wlan0"
        facts.wirelessFrequency = 2437
        facts.adapters = [.init(name: "hci0", serialDevice: "serial0-0")]
        facts.commandTimeouts = [.init(adapter: "hci0", count: 3, opcode: 0x0C03)]
        facts.freeSpace = .init(folder: "/home/\(Planted.user)/.local/state/meterd", bytes: 7)
        facts.ports = [.init(path: "/dev/ttyACM0", group: "dialout", mode: 0o660, isOpen: false)]
        return facts
    }

    private func meter(_ id: String, _ name: String?, _ error: String) -> MeterStatus {
        var status = MeterStatus(
            id: id, state: "not-connected", since: "2026-11-21T13:40:05.250Z", local_only: false, wanted: true,
            counters: .init())
        status.name = name
        status.error = error
        var lease = LeaseStatus(.elsewhere)
        lease.holder = Planted.otherHost
        status.lease = lease
        return status
    }

    private var answers: Checkup.DaemonFacts {
        var cloud = CloudStatus(joined: true, host_id: Planted.hostID, host_name: Planted.host)
        cloud.zone = Planted.zone
        cloud.error =
            "https://admin:\(Planted.password)@\(Planted.brokerHost):8643 (\(Planted.address4), \(Planted.address6)) "
            + "refused the token: \(Planted.token), pin \(Planted.pin)"
        var broker = BrokerStatus(url: "mqtts://\(Planted.user):\(Planted.password)@\(Planted.brokerHost):8883")
        broker.error = "password=\(Planted.password) was refused; ssid: \(Planted.wifi)"
        var adapter = AdapterStatus.searching
        adapter.error = "\(Planted.host): \(Planted.stranger) is connected to \(adapter.address)"
        adapter.discovery = .another
        // One that was never reached, and so has no address.
        var proxy = AdapterStatus(address: Planted.proxyHost, name: Planted.proxyHost, state: .failed, since: "")
        proxy.proxy = ProxyStatus(name: "garage-of-anna", version: nil, encrypted: true)
        proxy.error = "\(Planted.proxyHost) cannot be reached."
        let store = StoreStatus(
            path: "/home/\(Planted.user)/.local/state/meterd/meterd.sqlite", unsaved: 0, saved: 0, dropped: 0,
            error: "no space for \(Planted.user)")
        var board = meter("02:00:00:E5:32:01", nil, "\(Planted.boardHost) cannot be reached.")
        (board.transport, board.port) = ("network", Planted.boardHost)
        let meters = [
            board, meter(meterAddress, Planted.meterName, "\(Planted.stranger) answered for \(meterAddress)"),
            meter("usb:2e3c:5558:\(Planted.serial)", "FNB58-051772", "\(Planted.serial) froze"),
        ]
        return .answers(
            Checkup.Answers(
                version: .current, status: GatewayStatus(meters: meters, adapters: [adapter, proxy], store: store),
                cloud: cloud, page: nil, broker: broker))
    }

    private var support: SupportBody {
        let gatt = [
            SupportService(
                service: "FFE0", handle: 10,
                characteristics: [
                    .init(uuid: "FFE1", handle: 12, properties: ["write without response", "notify"], cccd: true)
                ])
        ]
        return SupportBody(
            meters: [
                SupportMeter(
                    id: meterAddress, model: nil, state: "communicating", transport: "ble",
                    transitions: [
                        .init(
                            age_ms: 5, from: "connecting", to: "connected",
                            cause: "\(Planted.stranger) gave way on \(Planted.host)")
                    ], gatt: gatt, traffic: [.init(age_ms: 3, dir: "in", hex: "ff55", bytes: 2)]),
                SupportMeter(
                    id: "usb:2e3c:5558:\(Planted.serial)", model: "FNB58", state: "offline", transport: "hid"),
            ],
            radios: SupportRadios(
                adapters: [
                    .init(
                        address: "00:AA:01:00:00:01", name: "hci0", manufacturer: 305, hci_version: 9,
                        supported_settings: "0x1", current_settings: "0x1", reset: "serial")
                ],
                advertisements: [
                    .init(
                        address: meterAddress, address_type: "public", name: "DL24_BLE", rssi: -60,
                        data: ["0201060303e0ff", "0909444c32345f424c45"])
                ], strangers: 17,
                management: [.init(age_ms: 9, adapter: "hci0", dir: "in", words: "a stranger: connected")]))
    }

    /// A tree with an FNB58, as the kernel shows one, and a keyboard.
    private func usb() throws -> (TemporaryFolder, [USBRow]) {
        let folder = try TemporaryFolder()
        func write(_ text: String, _ path: String) throws {
            let path = "\(folder.path)/sys/bus/usb/devices/\(path)"
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: path))
        }
        for (file, text) in [
            "idVendor": "2e3c", "idProduct": "5558", "bcdDevice": "0200", "manufacturer": "FNIRSI",
            "product": "FNB-58", "serial": Planted.serial,
        ] {
            try write(text + "\n", "1-1/\(file)")
        }
        for (number, ids) in [("08", "06"), ("02", "02"), ("0a", "00"), ("03", "00")].enumerated() {
            try write("0\(number)\n", "1-1/1-1:1.\(number)/bInterfaceNumber")
            try write(ids.0 + "\n", "1-1/1-1:1.\(number)/bInterfaceClass")
            try write(ids.1 + "\n", "1-1/1-1:1.\(number)/bInterfaceSubClass")
            try write("00\n", "1-1/1-1:1.\(number)/bInterfaceProtocol")
        }
        for (file, text) in ["idVendor": "046d", "idProduct": "c31c", "product": Planted.wifi] {
            try write(text + "\n", "1-2/\(file)")
        }
        try write("", "1-1:1.0/x")
        return (folder, USBRow.meters(root: folder.path))
    }

    private func bundle() throws -> SupportBundle {
        try SupportBundle(
            made: "2026-11-23T18:00:00.000Z", machine: machine, daemon: answers, usb: usb().1, support: support,
            hostName: Planted.host, architecture: "arm64")
    }

    @Test func nothingPrivate_isInIt() throws {
        let bundle = try bundle()
        let text = try JSONOutput.pretty(bundle) + bundle.words(path: "f").joined()
        for secret in Planted.all {
            #expect(!text.lowercased().contains(secret.lowercased()), "\(secret) is in the bundle")
        }
    }

    @Test func whatAMaintainerNeeds_isInIt() throws {
        let text = try JSONOutput.pretty(try bundle())
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(
            Swift.Set(object.keys) == [
                "format", "version", "made", "programs", "machine", "findings", "usb", "heard", "strangers_heard",
                "adapters", "adapter_details", "management", "meters", "command_timeouts",
            ])
        for needed in [
            meterAddress, "DL24_BLE", "0201060303e0ff", "6.12.34+rpt-rpi-v8", "Debian GNU/Linux 13 (trixie)",
            "Raspberry Pi 4 Model B Rev 1.4", "FNB-58", "FFE1", "ff55", "0x0c03", "00:AA:01:00:00:01", "arm64",
            "write without response", "gave way on <host>",
        ] {
            #expect(text.contains(needed), "\(needed) is missing")
        }
        #expect((object["findings"] as? [Any])?.isEmpty == false)
        #expect(object["strangers_heard"] as? Int == 17)
    }

    @Test func meterOnUSB_hasItsInterfaces_andOthersAreLeftOut() throws {
        let rows = try usb().1
        #expect(rows.map(\.vid) == ["2E3C"])
        #expect(rows.first?.bcd_device == "0200")
        #expect(rows.first?.interfaces.map(\.class) == ["08", "02", "0A", "03"])
        #expect(try bundle().usb.first?.taken_for?.model == "fnb58")
    }

    @Test func daemonThatDoesNotAnswer_leavesTheMachine() throws {
        let failure = CommandFailure(.daemonNotRunning, "no meterd answers", next: "start it")
        let bundle = try SupportBundle(
            made: "m", machine: machine, daemon: .fails(failure), usb: [], support: nil, hostName: Planted.host,
            architecture: nil)
        #expect(bundle.findings.first?.message == "no meterd answers")
        #expect(bundle.strangers_heard == nil)
        // Unknown is null, not missing.
        let text = try JSONOutput.line(bundle)
        for key in ["strangers_heard", "meterd", "architecture"] { #expect(text.contains("\"\(key)\":null")) }
        #expect(bundle.words(path: "f").contains { $0.hasPrefix("meterd did not answer") })
    }

    @Test(arguments: [
        ("a hostile text", "a hostile text"), ("Linux 6.12.34+rpt-rpi-v8", "Linux 6.12.34+rpt-rpi-v8"),
        ("no lasting address: 00:11:22:33:44:55", "no lasting address: <device>"),
        ("at 10:20:30", "at 10:20:30"), ("see http://127.0.0.1:8642/", "see http://127.0.0.1:8642/"),
        ("see https://cloud.example:8643/x", "see https://<host>:8643/x"), ("Password: abc d", "Password: <masked> d"),
        ("fe80::1 and 10.0.0.7", "<address> and <address>"), ("/home/anna/x", "/home/<user>/x"),
        ("meterctl status usb:5fc9:0063:X1", "meterctl status usb:5fc9:0063:X1"),
    ])
    func mask_takesOutWhatIsPrivate_andNoMore(text: String, masked: String) {
        #expect(BundleMask(words: [:], addresses: []).masked(text) == masked)
    }

    /// A bundle of a stranger's becomes fixtures that the program judges as it judged the devices.
    @Test func script_makesFixturesOfIt() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/bundle.json"
        try JSONOutput.pretty(try bundle()).write(toFile: file, atomically: true, encoding: .utf8)
        let script = Process()
        script.executableURL = Self.root.appending(path: "Scripts/bundle-to-fixtures")
        script.arguments = [file, "--source", "somebody/something issue 1 (name, 2026-11-23)"]
        let output = Pipe()
        script.standardOutput = output
        try script.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        script.waitUntilExit()
        #expect(script.terminationStatus == 0)

        struct Row: Decodable {
            var source: String
            var expect: Expectation

            struct Expectation: Decodable, Equatable {
                var model: String?
                var family: String?
                var transport: String
            }
        }
        let rows = try JSONDecoder().decode([Row].self, from: data)
        let verdicts = try Identify.verdicts(on: Array(data), in: "rows")
        #expect(rows.count == 2)
        #expect(rows.map(\.source) == Array(repeating: "somebody/something issue 1 (name, 2026-11-23)", count: 2))
        #expect(rows.map(\.expect.model) == ["fnb58", "dl24"])
        for (row, verdict) in zip(rows, verdicts) {
            #expect(
                row.expect
                    == Row.Expectation(
                        model: verdict.model?.rawValue, family: verdict.maker?.rawValue, transport: verdict.transport))
        }
        #expect(String(decoding: data, as: UTF8.self).contains("\"41:B8:12:00:00:00\""))
    }

    @Test func script_refusesWhatIsNoBundle() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/x.json"
        try Data("[]".utf8).write(to: URL(filePath: file))
        let script = Process()
        script.executableURL = Self.root.appending(path: "Scripts/bundle-to-fixtures")
        script.arguments = [file]
        script.standardError = Pipe()
        try script.run()
        script.waitUntilExit()
        #expect(script.terminationStatus == 1)
    }
}
