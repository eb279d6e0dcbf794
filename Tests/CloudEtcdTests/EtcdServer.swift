import Domain
import Foundation
import MeterTestKit
import Synchronization

@testable import CloudEtcd

/// Why the tests with a real etcd do not run here.
let etcdIsMissing = "etcd is not installed: sudo apt-get install etcd-server"

/// A real etcd, of one member or several, in a folder of its own, on ports that were free. Gone with the value.
final class EtcdServer: Sendable {
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    /// etcd in the care of a shell, which ends it when this process lets go of the shell's input, be it by dying.
    private struct Member {
        var shell: Process
        var input: FileHandle
    }

    private struct State {
        var members: [Int: Member] = [:]
    }

    private static let care = """
        pid=$1; shift
        "$@" </dev/null & echo $! >"$pid"
        cat >/dev/null
        kill -KILL $!
        wait
        """

    static let program = ["/usr/bin/etcd", "/usr/local/bin/etcd"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// One member, which answers.
    static func started() throws -> EtcdServer {
        let server = try EtcdServer()
        try server.start()
        return server
    }

    let folder: TemporaryFolder
    let clientPorts: [Int]
    private let peerPorts: [Int]
    private let options: [String]
    private let scheme: String
    private let state = Mutex(State())

    /// - Parameter options: for each member, `%` standing for the folder.
    init(members: Int = 1, scheme: String = "http", options: [String] = []) throws {
        folder = try TemporaryFolder()
        let ports = try freePorts(2 * members)
        clientPorts = Array(ports.prefix(members))
        peerPorts = Array(ports.suffix(members))
        self.scheme = scheme
        self.options = options.map { [folder] in $0.replacingOccurrences(of: "%", with: folder.path) }
    }

    deinit {
        for member in clientPorts.indices { kill(member) }
    }

    var urls: [String] { clientPorts.map { "\(scheme)://127.0.0.1:\($0)" } }

    var settings: EtcdSettings {
        var settings = EtcdSettings(urls: urls)
        // Beside all other tests, on a machine that builds something else, a task may wait for minutes for its turn.
        settings.answerTimeout = .seconds(60)
        settings.patience = .seconds(600)
        return settings
    }

    /// Starts all members; they are there once a client reaches them.
    func start() throws { for member in clientPorts.indices { try start(member) } }

    func start(_ member: Int) throws {
        guard let program = Self.program else { throw Problem(description: etcdIsMissing) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let (client, peer) = ("\(scheme)://127.0.0.1:\(clientPorts[member])", "http://127.0.0.1:\(peerPorts[member])")
        process.arguments =
            [
                "-c", Self.care, "etcd", pidFile(member), program, "--name", "m\(member)", "--data-dir",
                "\(folder.path)/m\(member)",
                "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster",
                peerPorts.enumerated().map { "m\($0)=http://127.0.0.1:\($1)" }.joined(separator: ","),
                "--log-level", "error", "--logger", "zap",
            ] + options
        let log = "\(folder.path)/m\(member).log"
        guard FileManager.default.createFile(atPath: log, contents: nil) else {
            throw Problem(description: "\(log) cannot be made")
        }
        let handle = FileHandle(forWritingAtPath: log)
        process.standardOutput = handle
        process.standardError = handle
        let input = Pipe()
        process.standardInput = input
        try process.run()
        let new = Member(shell: process, input: input.fileHandleForWriting)
        state.withLock { $0.members[member] = new }
    }

    private func pidFile(_ member: Int) -> String { "\(folder.path)/m\(member).pid" }

    /// As a power cut would end it.
    func kill(_ member: Int = 0) {
        guard let gone = state.withLock({ $0.members.removeValue(forKey: member) }) else { return }
        // It is closed with the value in any case.
        try? gone.input.close()
        gone.shell.waitUntilExit()
    }

    /// Holds a member: its connections stay, and it does nothing.
    /// Returns once all threads have stopped: under load, some go on for a while.
    func pause(_ member: Int = 0) {
        signal(SIGSTOP, member)
        guard let pid = pid(member) else { return }
        let deadline = ContinuousClock.now + .seconds(10)
        while !hasStopped(pid), ContinuousClock.now < deadline { sched_yield() }
    }
    func goOn(_ member: Int = 0) { signal(SIGCONT, member) }

    private func signal(_ number: Int32, _ member: Int) {
        if let pid = pid(member) { Foundation.kill(pid, number) }
    }

    private func pid(_ member: Int) -> Int32? {
        let text = try? String(contentsOfFile: pidFile(member), encoding: .utf8)
        return text.flatMap { Int32($0.filter(\.isNumber)) }
    }

    /// Reads the states of the process's threads (proc(5), `/proc/PID/task/TID/stat`).
    private func hasStopped(_ pid: Int32) -> Bool {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return tasks.allSatisfy { task in
            let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/stat", encoding: .utf8)
            return text.flatMap { $0.split(separator: ")").last }?.hasPrefix(" T") ?? true
        }
    }
}

/// Ports that are free now, and that the system gives to nobody by itself.
private func freePorts(_ count: Int) throws -> [Int] {
    var sockets: [Int32] = []
    defer { for one in sockets { close(one) } }
    var ports: [Int] = []
    for _ in 0..<1000 where ports.count < count {
        let one = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        sockets.append(one)
        let port = UInt16.random(in: 10_240..<32_768)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(one, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isBound { ports.append(Int(port)) }
    }
    guard ports.count == count else { throw EtcdServer.Problem(description: "no free port") }
    return ports
}

extension EtcdServer {
    /// Removes what the members have on the disk. They are not running.
    func forgetEverything() throws {
        for member in clientPorts.indices { try FileManager.default.removeItem(atPath: "\(folder.path)/m\(member)") }
    }
}
