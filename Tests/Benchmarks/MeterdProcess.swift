import FoundationEssentials
import GatewayAPI
import Glibc
import MeterModel

/// The real daemon, the optimised program beside this one, with a store and a socket of its own.
final class MeterdProcess {
    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let meterctl: String

    /// - Parameter more: of its configuration.
    init(ports: [String], model: ModelName, more: String = "") throws {
        folder = try TemporaryFolder()
        meterctl = try OwnProgram.neighbour("meterctl")
        var configuration = "state-directory = \"\(folder.path)/state\"\nsocket = \"\(folder.path)/socket\"\n"
        configuration += "[web]\nlisten = \"127.0.0.1:0\"\n" + more
        for (index, port) in ports.enumerated() {
            configuration += "[[port]]\npath = \"\(port)\"\nmodel = \"\(model.rawValue)\"\nname = \"m\(index)\"\n"
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

    func status() throws -> GatewayStatus {
        let output = "\(folder.path)/status"
        let asked = try ChildProcess(
            meterctl, ["status", "--json", "--socket", "\(folder.path)/socket"], output: output)
        guard asked.wait() else { throw BenchmarkError("meterctl status failed") }
        return try JSONDecoder().decode(GatewayStatus.self, from: Data(Report.file(output).utf8))
    }

    /// Where its web page is.
    func webURL() throws -> String {
        let output = "\(folder.path)/url"
        let asked = try ChildProcess(meterctl, ["web", "url", "--socket", "\(folder.path)/socket"], output: output)
        guard asked.wait(), let url = Report.file(output).split(separator: "\n").first else {
            throw BenchmarkError("meterctl web url failed")
        }
        return String(url)
    }

    /// Readings since it started, of all meters.
    func readings() throws -> Int { try status().meters.reduce(0) { $0 + $1.counters.readings } }

    var processorTime: Double { process.processorTime }

    /// A line of /proc/PID/status, in megabytes.
    func memory(_ key: String) -> Double { process.memory(key) }

    /// - Returns: true when it ended cleanly.
    func end() -> Bool {
        kill(process.pid, SIGTERM)
        return process.wait()
    }
}
