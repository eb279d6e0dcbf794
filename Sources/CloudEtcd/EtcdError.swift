package import Cloud
import CloudAPI

/// Why etcd does not do what it was asked.
package struct EtcdError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// No member answers: none is there, the network, its certificate.
        case unreachable
        /// Sent, and no answer came in time. It may have been done.
        case timedOut = "timed-out"
        /// A member answers, and the members have no leader, or are just changing it.
        case noLeader = "no-leader"
        /// The quota is reached (alarm NOSPACE): etcd only reads and deletes.
        case noSpace = "no-space"
        /// A revision was asked for that is compacted.
        case compacted
        /// The user name or the password is wrong, or etcd has no users.
        case notAuthenticated = "not-authenticated"
        /// The user may not read or write these keys.
        case permissionDenied = "permission-denied"
        case tooLarge = "too-large"
        /// etcd has more to do than it can, or others change the same thing all the time.
        case overloaded
        /// What answers has an older state than was seen before: it was restored, or is another etcd.
        case wentBack = "went-back"
        /// The answer is not etcd's.
        case garbage
        /// What is stored cannot be read: a newer version wrote it, or another program.
        case damaged
        /// etcd refuses, in words of its own.
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

    /// Another member may do better, or the same one in a moment.
    var isWorthAnotherTry: Bool {
        switch code {
        case .unreachable, .timedOut, .noLeader, .overloaded, .garbage: true
        case .noSpace, .compacted, .notAuthenticated, .permissionDenied, .tooLarge, .wentBack, .damaged, .refused,
            .badSetting:
            false
        }
    }

    /// What failed, and what to do, as the second half of a sentence.
    package var parts: (what: String, remedy: String?) {
        let parts = message.split(separator: ". ", maxSplits: 1)
        guard parts.count == 2 else { return (message, nil) }
        return (String(parts[0]), parts[1].prefix(1).lowercased() + parts[1].dropFirst())
    }

    /// As a host is told.
    package var failure: CloudFailure {
        let (what, remedy) = parts
        let words = remedy.map { "\(what); \($0)" } ?? what
        return switch code {
        case .damaged: CloudFailure(.internalError, words)
        default: CloudFailure(.serviceUnavailable, words, retryAfter: .seconds(5))
        }
    }
}
