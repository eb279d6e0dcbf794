import Glibc
import LinuxIO

/// stdout is data, stderr is talk.
enum Terminal {
    /// One line of talk.
    static func talk(_ line: String) {
        // With stderr gone there is nobody left to tell.
        try? write(line + "\n", to: 2)
    }

    /// One line of data. A reader that went away, as `head` does, ends the program quietly; data that is lost for any
    /// other reason ends it with an error.
    static func line(_ text: String) {
        do throws(Errno) {
            try write(text + "\n", to: 1)
        } catch {
            if error.code == EPIPE { Glibc.exit(ExitStatus.ok.rawValue) }
            let failure = CommandFailure(
                .error, "standard output cannot be written: \(error)", next: "free the space, or send it elsewhere")
            failure.print()
            Glibc.exit(failure.exitCode)
        }
    }

    /// - Throws: what the kernel said. A signal in between and a pipe that is full are waited out.
    private static func write(_ text: String, to descriptor: Int32) throws(Errno) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                bytes = bytes.dropFirst(written)
                continue
            }
            switch written == 0 ? EIO : errno {
            case EINTR: continue
            case EAGAIN:
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // Whatever poll says, the next write says it better.
                _ = poll(&state, 1, -1)
            case let code: throw Errno(code)
            }
        }
    }
}
