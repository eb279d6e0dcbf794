package import Cloud
import CloudAPI

package struct EtcdError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// No member runs, the network is down, or a certificate is wrong.
        case unreachable
        /// No answer in time; the request may have been carried out.
        case timedOut = "timed-out"
        /// The members have no leader.
        case noLeader = "no-leader"
        /// The quota is reached (alarm NOSPACE): etcd accepts only reads and deletions.
        case noSpace = "no-space"
        case compacted
        /// Wrong user name or password, or etcd has no users.
        case notAuthenticated = "not-authenticated"
        case permissionDenied = "permission-denied"
        case tooLarge = "too-large"
        /// etcd is overloaded, or other writers keep changing the same key.
        case overloaded
        /// etcd's state is older than before: it was restored, or the settings name another etcd.
        case wentBack = "went-back"
        /// The answer does not come from etcd.
        case garbage
        /// A newer version or another program wrote the stored value.
        case damaged
        /// Any other refusal, in etcd's words.
        case refused
        case badSetting = "bad-setting"
    }

    package var code: Code
    /// What failed, with the value, then advice.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    var isWorthAnotherTry: Bool {
        switch code {
        case .unreachable, .timedOut, .noLeader, .overloaded, .garbage: true
        case .noSpace, .compacted, .notAuthenticated, .permissionDenied, .tooLarge, .wentBack, .damaged, .refused,
            .badSetting:
            false
        }
    }

    package var parts: (what: String, remedy: String?) {
        let parts = message.split(separator: ". ", maxSplits: 1)
        guard parts.count == 2 else { return (message, nil) }
        return (String(parts[0]), parts[1].prefix(1).lowercased() + parts[1].dropFirst())
    }

    package var failure: CloudFailure {
        let (what, remedy) = parts
        let words = remedy.map { "\(what); \($0)" } ?? what
        return switch code {
        case .damaged: CloudFailure(.internalError, words)
        default: CloudFailure(.serviceUnavailable, words, retryAfter: .seconds(5))
        }
    }
}
