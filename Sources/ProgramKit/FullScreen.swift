import Glibc
import Synchronization

/// The terminal's alternate screen with single-key input. `leave`, `exit` and a normal end of the program restore the
/// terminal.
package enum FullScreen {
    /// Terminal state to restore; nil except between `enter` and `leave`.
    private static let before = Mutex<State?>(nil)

    private struct State: Sendable {
        /// Terminal modes before `enter`; nil if the input is not a terminal.
        var modes: termios?
    }

    /// Shows the alternate screen, and turns off echo and line input. Ctrl-C still sends a signal. Ctrl-Z has no
    /// effect, because a suspended program would leave the shell without echo.
    package static func enter() {
        var modes = termios()
        let hasKeys = tcgetattr(STDIN_FILENO, &modes) == 0
        let isFirst = before.withLock { state in
            defer { state = state ?? State(modes: hasKeys ? modes : nil) }
            return state == nil
        }
        guard isFirst else { return }
        atexit { FullScreen.leave() }
        if hasKeys {
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
            withUnsafeMutableBytes(of: &modes.c_cc) { $0[Int(VSUSP)] = 0 }
            tcsetattr(STDIN_FILENO, TCSANOW, &modes)
        }
        write("\u{1B}[?1049h\u{1B}[?25l")
    }

    /// Restores the terminal. Repeated calls are harmless.
    package static func leave() {
        let state = before.withLock { state in
            defer { state = nil }
            return state
        }
        guard let state else { return }
        write("\u{1B}[?25h\u{1B}[?1049l")
        if var modes = state.modes { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
    }

    private static func write(_ text: String) { try? DescriptorWriter.write(text, to: STDOUT_FILENO) }
}
