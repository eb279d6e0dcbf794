import CLinux
import Domain
import Glibc
import Synchronization

/// Runs another program for a limited time in its own process group, which is then killed. The program gets only the
/// given environment, and no open files, input or ignored signals.
package struct BoundedProgram: Sendable {
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killedBySignal(Int32)
        case timedOut
        case cancelled
        case notStarted(Errno)
    }

    package struct Outcome: Hashable, Sendable {
        package var end: End
        /// Beginning of the output, including standard error.
        package var output: [UInt8]
    }

    private let command: [String]
    private let environment: [String: String]
    private let limit: Duration
    private let outputMax: Int
    private let isCancelled = Flag()

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    private init(_ command: [String], _ environment: [String: String], _ limit: Duration, _ outputMax: Int) {
        self.command = command
        self.environment = environment
        self.limit = limit
        self.outputMax = outputMax
    }

    /// Runs the program on a separate thread until it ends, its time is up, or the task is cancelled.
    package static func run(
        _ command: [String], environment: [String: String], limit: Duration, outputMax: Int = 1024
    ) async -> Outcome {
        let program = BoundedProgram(command, environment, limit, outputMax)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                BackgroundThread.run { continuation.resume(returning: program.run()) }
            }
        } onCancel: {
            program.isCancelled.value.store(true, ordering: .relaxed)
        }
    }

    /// Interval between checks for the program's end. Output ends the wait earlier.
    private static let step = Duration.milliseconds(20)

    private func run() -> Outcome {
        do throws(Errno) {
            var ends: [Int32] = [-1, -1]
            try Errno.check { pipe(&ends) }
            let (source, sink) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
            // Programs started concurrently must not keep the pipe open.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let process = try start(writingTo: sink.raw)
            sink.close()
            return wait(for: process, reading: source)
        } catch {
            return Outcome(end: .notStarted(error), output: [])
        }
    }

    private func wait(for process: pid_t, reading source: FileDescriptor) -> Outcome {
        let deadline = LinuxClock.now + limit
        var output: [UInt8] = []
        var isOpen = true
        var end: End?
        while end == nil, !hasEnded(process) {
            if isCancelled.value.load(ordering: .relaxed) { end = .cancelled }
            if LinuxClock.now >= deadline { end = .timedOut }
            if end == nil { isOpen = read(source, isOpen: isOpen, into: &output) }
        }
        // Kill the group before `waitpid`: after that call, another process may have its ID.
        kill(-process, SIGKILL)
        while isOpen, end == nil, (try? source.awaitInput(for: .zero)) == true {
            isOpen = read(source, isOpen: true, into: &output)
        }
        var status: Int32 = 0
        _ = try? Errno.check { waitpid(process, &status, 0) }
        let signal = status & 0x7F
        return Outcome(
            end: end ?? (signal == 0 ? .exited(status >> 8 & 0xFF) : .killedBySignal(signal)), output: output)
    }

    private func hasEnded(_ process: pid_t) -> Bool {
        var info = siginfo_t()
        let code = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
        return code != 0 ? errno != EINTR : info.si_signo != 0
    }

    private func read(_ source: FileDescriptor, isOpen: Bool, into output: inout [UInt8]) -> Bool {
        guard isOpen else {
            _ = poll(nil, 0, Int32(Self.step.milliseconds))
            return false
        }
        do throws(Errno) {
            guard try source.awaitInput(for: Self.step) else { return true }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = try buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) -> Int? in
                try source.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            output += buffer.prefix(min(count ?? 0, outputMax - output.count))
            return count != 0
        } catch {
            return false
        }
    }

    // MARK: Starting

    private func start(writingTo sink: Int32) throws(Errno) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, sink, 1)
        posix_spawn_file_actions_adddup2(&actions, sink, 2)
        _ = cl_spawn_apart(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var process = pid_t()
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let code = Self.withStrings(command) { arguments in
            Self.withStrings(variables) { variables in
                posix_spawn(&process, command.first ?? "", &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw Errno(code) }
        return process
    }

    static func withStrings<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { buffer in
            withUnsafePointer(to: nil as UnsafeMutablePointer<CChar>?) { empty in body(buffer.baseAddress ?? empty) }
        }
    }
}
