import Glibc
import Synchronization

/// The terminal's other screen, for a program that fills it and hears single keys: what was there before comes back at
/// the end, whichever way the program ends by itself.
package enum FullScreen {
    /// The terminal as it was; nil outside of `enter` and `leave`.
    private static let before = Mutex<State?>(nil)

    private struct State: Sendable {
        /// Nil where the input is not a terminal, and nothing was changed.
        var modes: termios?
    }

    /// Keys are no longer shown, and are heard one by one. Ctrl-C is still a signal. Ctrl-Z does nothing, because a
    /// shell that came back in the middle would find the terminal in this state.
    package static func enter() {
        var modes = termios()
        let hasKeys = tcgetattr(STDIN_FILENO, &modes) == 0
        let isFirst = before.withLock { state in
            defer { state = state ?? State(modes: hasKeys ? modes : nil) }
            return state == nil
        }
        guard isFirst else { return }
        // For whoever calls `exit` somewhere else.
        atexit { FullScreen.leave() }
        if hasKeys {
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
            withUnsafeMutableBytes(of: &modes.c_cc) { $0[Int(VSUSP)] = 0 }
            tcsetattr(STDIN_FILENO, TCSANOW, &modes)
        }
        write("\u{1B}[?1049h\u{1B}[?25l")
    }

    /// Harmless if called again.
    package static func leave() {
        let state = before.withLock { state in
            defer { state = nil }
            return state
        }
        guard let state else { return }
        write("\u{1B}[?25h\u{1B}[?1049l")
        if var modes = state.modes { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
    }

    /// A terminal that cannot be written is gone, and needs nothing any more.
    private static func write(_ text: String) { try? DescriptorWriter.write(text, to: STDOUT_FILENO) }
}
