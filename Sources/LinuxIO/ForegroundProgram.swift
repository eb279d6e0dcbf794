import CLinux
import Domain
import Glibc

/// A child program that shares this program's input, output, errors, environment and process group.
package struct ForegroundProgram: Sendable {
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killedBySignal(Int32)
    }

    private let process: pid_t

    /// Starts the child. From then on, only the child reacts to the interrupt keys.
    ///
    /// - Parameters:
    ///   - command: name, searched in PATH, and arguments.
    ///   - toErrors: whether the child's output goes to standard error.
    package init(_ command: [String], toErrors: Bool) throws(Errno) {
        signal(SIGINT, SIG_IGN)
        signal(SIGQUIT, SIG_IGN)
        // If the parent process has set SIGCHLD to be ignored, the status of ended children is lost.
        signal(SIGCHLD, SIG_DFL)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if toErrors { posix_spawn_file_actions_adddup2(&actions, 2, 1) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var process = pid_t()
        let code = BoundedProgram.withStrings(command) { arguments in
            posix_spawnp(&process, command.first ?? "", &actions, &attributes, arguments, environ)
        }
        guard code == 0 else { throw Errno(code) }
        self.process = process
    }

    package func send(_ number: Int32) { kill(process, number) }

    package func end() async throws(Errno) -> End {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<End, Errno>, Never>) in
            BackgroundThread.run { continuation.resume(returning: wait()) }
        }
        return try result.get()
    }

    private func wait() -> Result<End, Errno> {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return .failure(Errno(errno)) }
        }
        let number = status & 0x7F
        return .success(number == 0 ? .exited(status >> 8 & 0xFF) : .killedBySignal(number))
    }
}
