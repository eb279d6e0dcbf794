import Domain
import FoundationEssentials
import GatewayAPI
import LinuxIO
import ProgramKit

/// One host's facts for a maintainer: `meterctl doctor --bundle FILE`. A single JSON object, which
/// Scripts/bundle-to-fixtures turns into fixtures.
struct SupportBundle: Encodable {
    let format = "meter-gateway-bundle"
    let version = 1
    /// Time of the bundle in RFC 3339.
    var made: String
    var programs: Programs
    var machine: Machine
    var findings: [Finding]
    var usb: [USBRow]
    /// Devices found by radio that are or may be meters.
    var heard: [RadioRow]
    /// Number of other devices found by radio; null if meterd uses no radio or does not answer.
    @NullCodable var strangers_heard: Int? = nil
    var adapters: [AdapterStatus]
    var adapter_details: [SupportRadios.Adapter]
    var management: [SupportRadios.Trace]
    var meters: [SupportMeter]
    /// HCI commands without an answer since the machine started; null if meterctl may not read the kernel's log.
    @NullCodable var command_timeouts: [Timeouts]? = nil

    struct Programs: Encodable {
        var meterctl: VersionBody
        /// Version of meterd; null if it does not answer.
        @NullCodable var meterd: VersionBody? = nil
        @NullCodable var bluetoothd: String? = nil
    }

    struct Machine: Encodable {
        @NullCodable var kernel: String? = nil
        @NullCodable var system: String? = nil
        @NullCodable var architecture: String? = nil
        @NullCodable var board: String? = nil
        @NullCodable var wireless_MHz: Int? = nil
        @NullCodable var under_voltage: Bool? = nil
    }

    struct Timeouts: Encodable {
        var adapter: String
        var count: Int
        var last_opcode: String
    }
}

extension SupportBundle {
    /// - Parameters:
    ///   - usb: plugged-in devices that may be meters.
    ///   - support: nil if meterd does not answer, or its version lacks the request.
    init(
        made: String, machine facts: MachineFacts, daemon: Checkup.DaemonFacts, usb: [USBRow], support: SupportBody?,
        hostName: String, architecture: String?
    ) throws {
        let mask = BundleMask(machine: facts, daemon: daemon, support: support, hostName: hostName)
        self.made = made
        var running: VersionBody?
        adapters = []
        if case .answers(let answers) = daemon {
            running = answers.version
            adapters = answers.status.adapters.map { adapter in
                var adapter = adapter
                adapter.error = adapter.error.map { mask.masked($0) }
                if var proxy = adapter.proxy {
                    proxy.name = proxy.name.map { mask.masked($0) }
                    (adapter.address, adapter.proxy) = (mask.masked(adapter.address), proxy)
                    adapter.name = adapter.name.map { mask.masked($0) }
                }
                return adapter
            }
        }
        programs = Programs(meterctl: .current, meterd: running, bluetoothd: facts.bluetoothDaemon)
        machine = Machine(
            kernel: facts.kernel, system: facts.system, architecture: architecture, board: facts.boardModel,
            wireless_MHz: facts.wirelessFrequency, under_voltage: facts.isUnderVoltage)
        findings = Checkup(machine: facts, daemon: daemon).findings.map { mask.masked($0) }
        self.usb = try Self.judged(usb, \.taken_for)
        let meters = support?.meters ?? []
        let advertisements = support?.radios?.advertisements ?? []
        heard = try Self.judged(advertisements.map { RadioRow($0, among: meters) }, \.taken_for)
        strangers_heard = support?.radios?.strangers
        adapter_details = support?.radios?.adapters ?? []
        management = support?.radios?.management ?? []
        self.meters = meters.map { mask.masked($0) }
        command_timeouts = facts.commandTimeouts?.map {
            Timeouts(adapter: $0.adapter, count: $0.count, last_opcode: "0x\($0.opcode.fourHexDigits)")
        }
    }

    private static func judged<Row: Encodable>(
        _ rows: [Row], _ takenFor: WritableKeyPath<Row, TakenFor?>
    ) throws -> [Row] {
        let verdicts = try Identify.verdicts(on: Array(try JSONEncoder().encode(rows)), in: "the bundle")
        return zip(rows, verdicts).map { row, verdict in
            var row = row
            row[keyPath: takenFor] = TakenFor(verdict)
            return row
        }
    }

    func words(path: String) -> [String] {
        let known = meters.count { $0.model != nil }
        var lines = [
            "\(path) has:",
            "- versions of the programs, the kernel and the system, and the board's model",
            "- the \(findings.count) findings of meterctl doctor",
            "- devices on USB that are, or may be, meters (\(usb.count)): ids, texts and interfaces, no serial numbers",
            "- radios that are, or may be, meters (\(heard.count)): addresses, names and what they announce",
            "- the last states of meters (\(meters.count), \(known) of a known model), and what a meter without data says",
            "- Bluetooth adapters (\(adapters.count)), and the last messages to and from the kernel about them (\(management.count))",
        ]
        if let strangers_heard {
            lines.append("Of other devices that were heard it has the number alone (\(strangers_heard)).")
        }
        if case .none = programs.meterd { lines.append("meterd did not answer, so that what it knows is not in it.") }
        lines.append(
            "Names of hosts, people and networks, passwords and tokens were taken out as far as they can be known.")
        lines.append("Look it through before you send it: it is text.")
        lines.append(
            "Send it with your report. Addresses of your meters are in it; where it is made public, so are they.")
        return lines
    }
}

extension BundleMask {
    fileprivate func masked(_ meter: SupportMeter) -> SupportMeter {
        var meter = meter
        meter.id = masked(meter.id)
        meter.transitions = meter.transitions.map { change in
            var change = change
            change.cause = masked(change.cause)
            return change
        }
        return meter
    }
}

extension RadioRow {
    fileprivate init(_ heard: SupportRadios.Advertisement, among meters: [SupportMeter]) {
        let isClassic = heard.address_type == "classic"
        bus = isClassic ? "classic" : "ble"
        name = heard.name
        address = heard.address
        address_type = isClassic ? nil : heard.address_type
        rssi = heard.rssi
        adv_hex = heard.data.first
        scan_response_hex = heard.data.dropFirst().first
        guard !isClassic, let meter = meters.first(where: { $0.id == heard.address }) else { return }
        gatt = meter.gatt?.map { service in
            Service(
                service: service.service, handle: service.handle,
                characteristics: service.characteristics.map {
                    Service.Characteristic(uuid: $0.uuid, handle: $0.handle, properties: $0.properties, cccd: $0.cccd)
                })
        }
    }
}
