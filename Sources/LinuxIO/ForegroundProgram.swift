import CLinux
import Domain
import Glibc

/// Runs another program as a shell does: with this one's input, output, errors, environment and process group.
package enum ForegroundProgram {
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killedBySignal(Int32)
    }

    /// Waits until it has ended. Meanwhile this program ignores what is typed to interrupt it, as the other one gets that too.
    ///
    /// - Parameters:
    ///   - command: its name, looked for as a shell does, and its arguments.
    ///   - toErrors: what it writes to its output goes where errors go.
    /// - Throws: why it cannot be started.
    package static func run(_ command: [String], toErrors: Bool) async throws(Errno) -> End {
        let before = (signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN))
        defer {
            signal(SIGINT, before.0)
            signal(SIGQUIT, before.1)
        }
        let process = try start(command, toErrors: toErrors)
        return await withCheckedContinuation { continuation in
            BackgroundThread.run {
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                let number = status & 0x7F
                continuation.resume(returning: number == 0 ? .exited(status >> 8 & 0xFF) : .killedBySignal(number))
            }
        }
    }

    private static func start(_ command: [String], toErrors: Bool) throws(Errno) -> pid_t {
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
        for number in [SIGINT, SIGQUIT, SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var process = pid_t()
        let code = BoundedProgram.withStrings(command) { arguments in
            posix_spawnp(&process, command.first ?? "", &actions, &attributes, arguments, environ)
        }
        guard code == 0 else { throw Errno(code) }
        return process
    }
}
