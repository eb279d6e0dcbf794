import CloudAPI
import Domain
import FoundationEssentials
import GatewayAPI
import Glibc

/// The real daemon, the optimised program beside this one, with a store and a socket of its own.
final class MeterdProcess: Sendable {
    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let meterctl: String

    /// - Parameters:
    ///   - ids: of the meters, in the order of their ports; those left out get one that their port gives them.
    ///   - name: as other hosts of its cloud see it; nil for the machine's.
    ///   - state: the folder of its store; nil for one of its own, empty.
    ///   - more: of its configuration.
    init(
        ports: [String], model: ModelName, ids: [MeterID] = [], name: String? = nil, state: String? = nil,
        more: String = ""
    ) throws {
        folder = try TemporaryFolder()
        meterctl = try OwnProgram.neighbour("meterctl")
        let state = state ?? "\(folder.path)/state"
        var configuration = "state-directory = \"\(state)\"\nsocket = \"\(folder.path)/socket\"\n"
        if let name { configuration += "host-name = \"\(name)\"\n" }
        configuration += "[web]\nlisten = \"127.0.0.1:0\"\n" + more
        for (index, port) in ports.enumerated() {
            configuration += "[[port]]\npath = \"\(port)\"\nmodel = \"\(model.rawValue)\"\nname = \"m\(index)\"\n"
            if index < ids.count { configuration += "id = \"\(ids[index])\"\n" }
        }
        try configuration.write(toFile: "\(folder.path)/meterd.toml", atomically: false, encoding: .utf8)
        process = try ChildProcess(
            OwnProgram.neighbour("meterd"), ["--config", "\(folder.path)/meterd.toml", "--log-level", "error"],
            errors: "\(folder.path)/log")
    }

    /// Waits until all meters have data.
    func awaitData(_ meters: Int) throws {
        let deadline = Clocks.wall + 40
        while Clocks.wall < deadline {
            Clocks.pause(0.5)
            // Not up yet, or not all of them: looked at again.
            guard let status = try? status() else { continue }
            if status.meters.count(where: { $0.state == ConnectionState.dataAvailable.rawValue }) == meters { return }
        }
        throw BenchmarkError("not all of \(meters) meters had data: \(Report.file("\(folder.path)/log"))")
    }

    func status() throws -> GatewayStatus { try decoded(["status", "--json"]) }

    /// Where its web page is.
    func webURL() throws -> String {
        guard let url = try ask(["web", "url"]).split(separator: "\n").first else {
            throw BenchmarkError("meterctl web url says nothing")
        }
        return String(url)
    }

    /// Makes it a host of a cloud.
    ///
    /// - Parameter tokenFile: holds the token with which hosts join.
    func join(_ url: String, tokenFile: String, pin: CertificatePin) throws {
        _ = try ask(["cloud", "join", url, "--token-file", tokenFile, "--pin", "\(pin)"])
    }

    /// Waits until it knows that so many meters have a holder, itself or another host.
    func awaitHeld(_ meters: Int) throws {
        let deadline = Clocks.wall + 40
        while Clocks.wall < deadline {
            let leases = try (decoded(["who", "--json"]) as WhoBody).leases
            if leases.count(where: { $0.holder != nil }) == meters { return }
            Clocks.pause(0.2)
        }
        throw BenchmarkError("not all of \(meters) meters are held: \(Report.file("\(folder.path)/log"))")
    }

    /// Has it watch a meter, by its name.
    func addAlert(_ meter: String, _ condition: String) throws { _ = try ask(["alert", "add", meter, condition]) }

    /// For requests to its control socket.
    func client(connections: Int) -> LoadClient {
        LoadClient("http+unix://\("\(folder.path)/socket".percentEncoded)", connections: connections)
    }

    private func decoded<Answer: Decodable>(_ command: [String]) throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(try ask(command).utf8))
    }

    /// A meterctl run that goes on.
    func begin(_ command: [String]) throws -> ChildProcess {
        try ChildProcess(meterctl, command + ["--socket", "\(folder.path)/socket"], errors: "\(folder.path)/errors")
    }

    /// What meterctl says to it.
    private func ask(_ command: [String]) throws -> String {
        let (output, errors) = ("\(folder.path)/said", "\(folder.path)/errors")
        let asked = try ChildProcess(
            meterctl, command + ["--socket", "\(folder.path)/socket"], output: output, errors: errors)
        guard asked.wait() else {
            throw BenchmarkError("meterctl \(command[0]) failed: \(Report.file(errors))")
        }
        return Report.file(output)
    }

    /// Readings since it started, of all meters.
    func readings() throws -> Int { try status().meters.reduce(0) { $0 + $1.counters.readings } }

    var processorTime: Double { process.processorTime }

    /// What each of some takes of a core, measured at the same time, so that whatever else the machine does is done to all.
    static func shares(of daemons: [MeterdProcess], for seconds: Double) -> [Double] {
        let (began, used) = (Clocks.wall, daemons.map(\.processorTime))
        Clocks.pause(seconds)
        let time = Clocks.wall - began
        return zip(daemons, used).map { ($0.processorTime - $1) / time }
    }

    /// A line of /proc/PID/status, in megabytes.
    func memory(_ key: String) -> Double { process.memory(key) }

    /// - Returns: true when it ended cleanly.
    func end() -> Bool {
        kill(process.pid, SIGTERM)
        return process.wait()
    }
}
