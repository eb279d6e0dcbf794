package import Cloud
import CloudAPI

/// Why etcd refused a request, or failed.
package struct EtcdError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// No member answers: none is running, the network is down, or a certificate is wrong.
        case unreachable
        /// Sent, but no answer came in time. The request may have been carried out.
        case timedOut = "timed-out"
        /// A member answers, but the members have no leader, or are changing it.
        case noLeader = "no-leader"
        /// The quota is reached (alarm NOSPACE): etcd only reads and deletes.
        case noSpace = "no-space"
        /// A compacted revision was requested.
        case compacted
        /// The user name or the password is wrong, or etcd has no users.
        case notAuthenticated = "not-authenticated"
        /// The user may not read or write these keys.
        case permissionDenied = "permission-denied"
        case tooLarge = "too-large"
        /// etcd is overloaded, or others keep changing the same thing.
        case overloaded
        /// The state is older than one seen before: etcd was restored, or is another one.
        case wentBack = "went-back"
        /// The answer does not come from etcd.
        case garbage
        /// The stored value cannot be read: a newer version wrote it, or another program.
        case damaged
        /// etcd refuses, in its own words.
        case refused
        /// An address, a file or a setting is wrong.
        case badSetting = "bad-setting"
    }

    package var code: Code
    /// What failed, with which value, and after a full stop what to do.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    /// Whether another member may succeed, or the same one in a moment.
    var isWorthAnotherTry: Bool {
        switch code {
        case .unreachable, .timedOut, .noLeader, .overloaded, .garbage: true
        case .noSpace, .compacted, .notAuthenticated, .permissionDenied, .tooLarge, .wentBack, .damaged, .refused,
            .badSetting:
            false
        }
    }

    /// What failed, and what to do, for the second half of a sentence.
    package var parts: (what: String, remedy: String?) {
        let parts = message.split(separator: ". ", maxSplits: 1)
        guard parts.count == 2 else { return (message, nil) }
        return (String(parts[0]), parts[1].prefix(1).lowercased() + parts[1].dropFirst())
    }

    /// The failure as reported to a host.
    package var failure: CloudFailure {
        let (what, remedy) = parts
        let words = remedy.map { "\(what); \($0)" } ?? what
        return switch code {
        case .damaged: CloudFailure(.internalError, words)
        default: CloudFailure(.serviceUnavailable, words, retryAfter: .seconds(5))
        }
    }
}
