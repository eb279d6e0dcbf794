import Glibc

/// The kernel's error for a failed call.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in `errno`.
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The error of this thread's last failed call.
    package static var last: Errno { Errno(Glibc.errno) }
    /// No answer came in time.
    package static var timedOut: Errno { Errno(ETIMEDOUT) }

    /// The system's text, and the number to look it up by. (glibc's `strerror` has been thread-safe since 2.32; Debian
    /// 12 has 2.36.)
    package var description: String { "\(words) (errno \(code))" }

    /// The system's text alone.
    package var words: String { strerror(code).map { String(cString: $0) } ?? "unknown error" }

    /// Runs a call that returns -1 on failure, repeating it when a signal interrupts it. The one place for EINTR.
    @discardableResult
    package static func check<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let reason = Errno.last
            if reason.code != EINTR { throw reason }
        }
    }

    /// As `check`, but returns nil if the descriptor would have to wait.
    package static func checkUnlessBlocked<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result? {
        do {
            return try check(call)
        } catch {
            if error.code == EAGAIN || error.code == EWOULDBLOCK { return nil }
            throw error
        }
    }
}
