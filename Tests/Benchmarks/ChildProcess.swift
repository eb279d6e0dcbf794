import FoundationEssentials
import Glibc
import LinuxIO
import Synchronization

/// A program that this one started.
final class ChildProcess: Sendable {
    let pid: pid_t
    private let hasEnded = Atomic(false)

    /// - Parameters:
    ///   - input: what its standard input is read from.
    ///   - output: where standard output goes; standard error goes to `errors`.
    init(
        _ path: String, _ arguments: [String], input: String = "/dev/null", output: String = "/dev/null",
        errors: String = "/dev/null"
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This thread may hear no signals, which its children would have from it.
        var nothing = sigset_t()
        sigemptyset(&nothing)
        posix_spawnattr_setsigmask(&attributes, &nothing)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = ([path] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, path, &actions, &attributes, words + [nil], environ)
        guard code == 0 else { throw BenchmarkError("\(path) cannot be started: errno \(code)") }
        self.pid = pid
    }

    deinit { end() }

    /// Of all its threads, so far; seconds.
    var processorTime: Double { Clocks.process(pid) }

    /// A line of /proc/PID/status, in megabytes.
    func memory(_ key: String) -> Double {
        let line = Report.file("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("\(key):") }
        let kilobytes = line?.split { !$0.isNumber }.first.flatMap { Double($0) }
        return (kilobytes ?? 0) / 1024
    }

    /// Whether it has not ended yet. It stays there for `wait`.
    var isRunning: Bool {
        var information = siginfo_t()
        let flags = WEXITED | WNOHANG | WNOWAIT
        return waitid(P_PID, id_t(pid), &information, Int32(flags)) == 0 && information.si_signo == 0
    }

    /// Asks it to end, or makes it, and waits until it has.
    func end(by signal: Int32 = SIGTERM) {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        kill(pid, signal)
        _ = wait()
    }

    /// Waits for its own end.
    ///
    /// - Returns: true when it ended well.
    func wait() -> Bool {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1, errno == EINTR {}
        hasEnded.store(true, ordering: .relaxed)
        return status == 0
    }
}

/// This program's own file, and what lies beside it.
enum OwnProgram {
    static let path = FileTree.canonical("/proc/self/exe") ?? CommandLine.arguments[0]

    static func neighbour(_ name: String) throws -> String {
        let neighbour = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/\(name)"
        guard access(neighbour, X_OK) == 0 else {
            throw BenchmarkError("there is no \(neighbour): swift build -c release --product \(name)")
        }
        return neighbour
    }

    /// A program of the system's; nil where it is not installed.
    static func installed(_ name: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}

/// Why a figure cannot be had.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A folder that is removed with its content.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/meter-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError("no temporary folder: errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // What a killed run leaves in /tmp does no harm either.
        try? FileManager.default.removeItem(atPath: path)
    }
}
