import CloudServer
import FoundationEssentials
import Glibc
import LinuxIO

/// Debian's Mosquitto as the other way to pass messages on: over TLS, nothing stored or confirmed. A broker of its own on
/// a port of its own, with a client of Debian's at each end of each topic, which are not counted.
final class MosquittoControl: Sendable {
    let process: ChildProcess
    private let folder: TemporaryFolder
    private let listeners: [ChildProcess]
    private let speakers: [ChildProcess]
    /// What the speakers read.
    private let lines: [FileDescriptor]
    /// With its end of line.
    private let payload: [UInt8]

    static let missing = "skipped: Mosquitto is not installed (apt-get install mosquitto mosquitto-clients)"

    /// Starts it, until each listener has heard a message; where something of it is not installed, says so.
    ///
    /// - Parameters:
    ///   - topics: how many.
    ///   - payload: one line.
    static func start(topics: Int, payload: String) async throws -> MosquittoControl? {
        let programs = ["mosquitto", "mosquitto_pub", "mosquitto_sub"].compactMap { OwnProgram.installed($0) }
        guard programs.count == 3 else {
            Report.line("  control Mosquitto: \(missing)")
            return nil
        }
        let control = try MosquittoControl(programs, topics: topics, payload: payload)
        try await control.awaitReady()
        return control
    }

    private init(_ programs: [String], topics: Int, payload: String) throws {
        folder = try TemporaryFolder()
        self.payload = Array("\(payload)\n".utf8)
        // A certificate of the kind that metercloud has.
        let cloud = CloudFolder(path: folder.path)
        _ = try cloud.certificate(names: ["127.0.0.1"], at: LinuxClock.wallNow)
        let port = try FreePort.find()
        // Started as root it would give itself another user, who may not read the key.
        let configuration = """
            listener \(port) 127.0.0.1
            certfile \(cloud.certificatePath)
            keyfile \(cloud.keyPath)
            user root
            allow_anonymous true
            persistence false
            log_type error

            """
        try configuration.write(toFile: "\(folder.path)/mosquitto.conf", atomically: false, encoding: .utf8)
        process = try ChildProcess(
            programs[0], ["-c", "\(folder.path)/mosquitto.conf"], errors: "\(folder.path)/errors")
        let server = ["-h", "127.0.0.1", "-p", String(port), "--cafile", cloud.certificatePath, "-q", "0"]
        let folder = folder.path
        try Self.awaitAnswer(to: programs[1], server, folder)
        listeners = try (0..<topics).map { topic in
            // A letter and an end of line for each message.
            try ChildProcess(
                programs[2], server + ["-t", "meter/\(topic)", "-F", "x"], output: "\(folder)/heard-\(topic)")
        }
        let pipes = (0..<topics).map { "\(folder)/lines-\($0)" }
        lines = try pipes.map { path in
            guard mkfifo(path, 0o600) == 0 else { throw BenchmarkError("\(path) cannot be made: errno \(errno)") }
            // Open for both, so that neither side waits for the other one.
            return try FileDescriptor(opening: path, O_RDWR)
        }
        speakers = try pipes.enumerated().map { topic, path in
            try ChildProcess(programs[1], server + ["-t", "meter/\(topic)", "-l"], input: path)
        }
    }

    private static func awaitAnswer(to speaker: String, _ server: [String], _ folder: String) throws {
        let deadline = Clocks.wall + 10
        while try !ChildProcess(speaker, server + ["-t", "ready", "-m", "x"], errors: "\(folder)/refusal").wait() {
            guard Clocks.wall < deadline else {
                let words = Report.file("\(folder)/errors") + Report.file("\(folder)/refusal")
                throw BenchmarkError("Mosquitto did not start: \(words)")
            }
            Clocks.pause(0.1)
        }
    }

    private func awaitReady() async throws {
        let deadline = Clocks.wall + 30
        while !listeners.indices.allSatisfy({ heard($0) > 0 }) {
            guard Clocks.wall < deadline else {
                end()
                throw BenchmarkError("not all of Mosquitto's clients came up: \(Report.file("\(folder.path)/errors"))")
            }
            for topic in lines.indices { try publish(to: topic) }
            try await Clocks.wait(until: Clocks.wall + 0.5)
        }
        // What is still on its way.
        try await Clocks.wait(until: Clocks.wall + 1)
    }

    func publish(to topic: Int) throws {
        let count = try payload.withUnsafeBytes { bytes throws(Errno) in try lines[topic].write(bytes) }
        guard count == payload.count else { throw BenchmarkError("mosquitto_pub does not read what it is to send") }
    }

    /// Messages that came to the listeners so far.
    var received: Int { listeners.indices.reduce(0) { $0 + heard($1) } }

    private func heard(_ topic: Int) -> Int { Report.file("\(folder.path)/heard-\(topic)").utf8.count / 2 }

    /// Two hundred programs that have nothing to put in order.
    func end() { for child in speakers + listeners + [process] { child.end(by: SIGKILL) } }
}
