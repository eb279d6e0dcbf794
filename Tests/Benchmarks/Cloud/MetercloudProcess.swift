import CloudAPI
import CloudClient
import CloudServer
import Domain
import Glibc
import LinuxIO
import NIOCore

/// The real server, the optimised program beside this one, with TLS on a port of its own, over a folder that may be
/// filled.
final class MetercloudProcess: Sendable {
    /// `https://127.0.0.1:port`.
    let url: String
    private let folder: TemporaryFolder
    private let pin: CertificatePin
    let process: ChildProcess

    /// - Parameter options: more of them, as people give them.
    init(_ folder: TemporaryFolder, options: [String] = []) throws {
        self.folder = folder
        let output = "\(folder.path)/output"
        // One token, or one address, may ask as often as it likes here: what is measured is the work, not the gate.
        process = try ChildProcess(
            OwnProgram.neighbour("metercloud"),
            [
                "serve", "--data", folder.path, "--listen", "127.0.0.1:0", "--rate", "1000000",
                // A whole fleet comes from this machine.
                "--connections-per-address", "4096", "--log-level", "error",
            ] + options, output: output, errors: "\(folder.path)/errors")
        let deadline = Clocks.wall + 30
        while true {
            if let port = Self.port(in: Report.file(output)) {
                url = "https://127.0.0.1:\(port)"
                break
            }
            guard Clocks.wall < deadline else {
                throw BenchmarkError("metercloud did not start: \(Report.file("\(folder.path)/errors"))")
            }
            Clocks.pause(0.02)
        }
        pin = try CloudFolder(path: folder.path).certificate(names: [], at: LinuxClock.wallNow).pin
    }

    /// In the line that it prints for people who join.
    private static func port(in output: String) -> Int? {
        guard let address = output.split(separator: "https://127.0.0.1:", maxSplits: 1).dropFirst().first,
            address.contains(" ")
        else { return nil }
        return Int(address.prefix { $0.isNumber })
    }

    /// What a new host needs to belong to it.
    func join(_ host: HostID, name: String) async throws -> CloudMembership {
        let token = Report.file(tokenFile).filter { !$0.isWhitespace }
        return try await CloudClient.join(
            urls: [url], token: Secret(token), pin: pin,
            as: JoinRequest(hostID: host.description, hostName: name, machine: name))
    }

    /// The same of a real host.
    ///
    /// - Parameter first: of several copies, the one that made the token.
    func join(_ host: MeterdProcess, tokenOf first: MetercloudProcess? = nil) throws {
        try host.join(url, tokenFile: (first ?? self).tokenFile, pin: pin)
    }

    private var tokenFile: String { CloudFolder(path: folder.path).enrolmentTokenPath }

    /// Requests for a route that it has answered so far, as its page of metrics has it.
    func requests(_ route: String) async throws -> Int {
        let client = LoadClient(url, connections: 1)
        let page = try await client.get("/metrics")
        try await client.shutdown()
        let lines = String(buffer: page).split(separator: "\n").filter {
            $0.hasPrefix("metercloud_requests_total{") && $0.contains("route=\"\(route)\"")
        }
        return lines.reduce(0) { $0 + Int(Double($1.split(separator: " ").last ?? "") ?? 0) }
    }

    func end() { process.end() }
}
