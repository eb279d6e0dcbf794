import ArgumentParser
import Domain
import FoundationEssentials
import GatewayAPI
import Glibc
import LinuxIO
import ProgramKit

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Diagnose problems, and suggest what to do.",
        discussion:
            "Works without meterd too. Exit code 1 if there is a problem. --bundle writes a file for a bug report and "
            + "lists its content. The file omits names of hosts and people, and anything that looks like a password.")

    @OptionGroup var daemon: DaemonOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var json: JSONOption
    @Option(help: "Write a file for a bug report, and list its content. Use - for standard output.")
    var bundle: String?

    func run() async throws {
        let client = daemon.client
        // A bundle omits the network's ESPHome nodes, because its readers do not need them.
        let facts = await Self.ask(client, nodes: bundle == nil)
        var folder: String?
        if case .answers(let answers) = facts { folder = answers.status.store.path.parentFolder }
        let machine = MachineReader().facts(user: Self.owner(of: client.socketPath), storeFolder: folder)
        if let bundle { return try await write(bundle, machine, facts, client) }
        let findings = Checkup(machine: machine, daemon: facts).findings
        if try !json.print(findings) { Self.table(findings, times.text).print() }
        if findings.contains(where: { $0.verdict == .problem }) { throw ExitCode(ExitStatus.error.rawValue) }
    }

    private func write(
        _ path: String, _ machine: MachineFacts, _ facts: Checkup.DaemonFacts, _ client: ControlClient
    ) async throws {
        // Nil if meterd does not answer or is too old, which the bundle reports.
        let support: SupportBody? = try? await client.call(.get, "/v1/support")
        let made = WallTime(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000)).description
        let bundle = try SupportBundle(
            made: made, machine: machine, daemon: facts, usb: USBRow.meters(root: ""), support: support,
            hostName: HostName.system, architecture: Architecture.name)
        let file = try OutputFile(path: path, isPrivate: true)
        try file.write(try JSONOutput.pretty(bundle))
        for line in bundle.words(path: path == "-" ? "it" : path) { Terminal.talk(line) }
    }

    private static func ask(_ client: ControlClient, nodes wantsNodes: Bool) async -> Checkup.DaemonFacts {
        async let nodes: ScanNodes? = wantsNodes ? try? client.call(.get, "/v1/scan/nodes") : nil
        do {
            return .answers(
                Checkup.Answers(
                    version: try await client.call(.get, "/v1/version"),
                    status: try await client.call(.get, "/v1/status"),
                    cloud: try await client.call(.get, "/v1/cloud"),
                    // Ignore errors: a meterd of another version, which the checkup reports, may lack these requests.
                    page: try? await client.call(.get, "/v1/web"),
                    broker: try? await client.call(.get, "/v1/broker"),
                    influx: try? await client.call(.get, "/v1/influx"), nodes: await nodes))
        } catch let failure as CommandFailure {
            return .fails(failure)
        } catch {
            return .fails(CommandFailure(.error, words(for: error), next: "use meterctl and meterd of one version"))
        }
    }

    /// Returns the socket's owner, which is the user that runs meterd; without a socket, the user of meterctl.
    private static func owner(of socketPath: String) -> uid_t {
        var info = stat()
        return stat(socketPath, &info) == 0 ? info.st_uid : geteuid()
    }

    static func table(_ findings: [Finding], _ times: TimeText) -> Table {
        var table = Table(["CHECK", "VERDICT", "WHAT IS, AND WHAT TO DO"], wrapsLast: true)
        for finding in findings {
            let colour: Terminal.Colour =
                switch finding.verdict {
                case .ok: .green
                case .note: .yellow
                case .problem: .red
                }
            table.add([
                .init(finding.check), .init(finding.verdict.rawValue, colour), .init(times.sentence(finding.message)),
            ])
            if let next = finding.next { table.add(["", "", "→ \(next)"]) }
        }
        return table
    }
}

enum Architecture {
    static var name: String? {
        #if arch(x86_64)
        "amd64"
        #elseif arch(arm64)
        "arm64"
        #else
        nil
        #endif
    }
}
