import Glibc

package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    package static var last: Errno { Errno(Glibc.errno) }
    package static var timedOut: Errno { Errno(ETIMEDOUT) }

    /// The system's text and the number. (glibc's `strerror` is thread-safe since 2.32; Debian 12 has 2.36.)
    package var description: String { "\(words) (errno \(code))" }

    package var words: String { strerror(code).map { String(cString: $0) } ?? "unknown error" }

    /// Runs a call that returns -1 on failure. EINTR is handled only here, by repeating the call.
    @discardableResult
    package static func check<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let reason = Errno.last
            if reason.code != EINTR { throw reason }
        }
    }

    /// Like `check`, but returns nil if the call would block.
    package static func checkUnlessBlocked<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result? {
        do {
            return try check(call)
        } catch {
            if error.code == EAGAIN || error.code == EWOULDBLOCK { return nil }
            throw error
        }
    }
}
