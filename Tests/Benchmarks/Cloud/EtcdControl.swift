import CloudServer
import Domain
import FoundationEssentials
import Glibc
import LinuxIO
import NIOCore

/// Debian's etcd as the other way to keep what the cloud keeps: asked through its JSON gateway, over TLS, each write on
/// the disk before it is answered. One of its own on ports of its own.
final class EtcdControl: Sendable {
    let client: LoadClient
    /// With which metercloud is told of it.
    let options: [String]
    let process: ChildProcess
    private let folder: TemporaryFolder

    static let missing = "skipped: etcd is not installed (apt-get install etcd-server)"

    /// Starts one; where there is none, says so.
    static func start() async throws -> EtcdControl? {
        guard let path = OwnProgram.installed("etcd") else {
            Report.line("  control etcd: \(missing)")
            return nil
        }
        return try await EtcdControl(path)
    }

    private init(_ path: String) async throws {
        folder = try TemporaryFolder()
        // A certificate of the kind that metercloud has.
        let cloud = CloudFolder(path: folder.path)
        _ = try cloud.certificate(names: ["127.0.0.1"], at: LinuxClock.wallNow)
        let (port, peer) = (try FreePort.find(), try FreePort.find())
        let (url, peerURL) = ("https://127.0.0.1:\(port)", "http://127.0.0.1:\(peer)")
        process = try ChildProcess(
            path,
            [
                "--data-dir", "\(folder.path)/etcd", "--name", "bench", "--cert-file", cloud.certificatePath,
                "--key-file", cloud.keyPath, "--listen-client-urls", url,
                "--advertise-client-urls", url, "--listen-peer-urls", peerURL, "--initial-advertise-peer-urls", peerURL,
                "--initial-cluster", "bench=\(peerURL)", "--max-txn-ops", "512", "--log-level", "error",
            ], output: "\(folder.path)/output", errors: "\(folder.path)/errors")
        client = LoadClient(url, connections: 64)
        options = ["--etcd", url, "--etcd-ca", cloud.certificatePath]
        let deadline = Clocks.wall + 20
        var isUp = false
        while !isUp {
            do {
                try await client.post("/v3/kv/range", ByteBuffer(string: #"{"key":"AA=="}"#))
                isUp = true
            } catch {
                guard Clocks.wall < deadline else {
                    try await client.shutdown()
                    let words = Report.file("\(folder.path)/errors").suffix(300)
                    throw BenchmarkError("etcd did not start: \(error): \(words)")
                }
                try await Clocks.wait(until: Clocks.wall + 0.1)
            }
        }
    }

    func end() async throws {
        try await client.shutdown()
        process.end()
    }

    /// One transaction that writes so many keys with so many bytes each, where the first of them is as old as expected.
    static func put(_ keys: Range<Int>, prefix: String, bytesEach: Int, isNew: Bool = false) -> ByteBuffer {
        let value = Data(repeating: 0x20, count: bytesEach).base64EncodedString()
        let puts = keys.map { #"{"request_put":{"key":"\#(key(prefix, $0))","value":"\#(value)"}}"# }
        let condition = #"{"key":"\#(key(prefix, keys.lowerBound))","target":"VERSION","result":"EQUAL","version":"0"}"#
        let compare = isNew ? #""compare":[\#(condition)],"# : ""
        return ByteBuffer(string: #"{\#(compare)"success":[\#(puts.joined(separator: ","))]}"#)
    }

    static func range(prefix: String, limit: Int) -> ByteBuffer {
        ByteBuffer(string: #"{"key":"\#(key(prefix, 0))","range_end":"\#(base64("\(prefix)~"))","limit":"\#(limit)"}"#)
    }

    static func watch(prefix: String) -> ByteBuffer {
        ByteBuffer(
            string: #"{"create_request":{"key":"\#(key(prefix, 0))","range_end":"\#(base64("\(prefix)~"))"}}"#)
    }

    private static func key(_ prefix: String, _ number: Int) -> String {
        let digits = String(number)
        return base64(prefix + String(repeating: "0", count: max(0, 9 - digits.count)) + digits)
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}
