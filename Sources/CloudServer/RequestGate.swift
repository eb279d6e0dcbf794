package import Cloud
import CloudAPI
package import MeterModel
package import ServerKit
import Synchronization

/// Limits the rate of requests for each credential, and for each address without a valid one.
package final class RequestGate: Sendable {
    package struct Limits: Hashable, Sendable {
        /// For each credential. A host's first sync, its renewals and a person's clicks stay far below.
        package var perCredential = Rate(perSecond: 100, burst: 400)
        /// For each address, for requests without a valid credential: guesses, health checks, scrapes.
        package var perAddress = Rate(perSecond: 10, burst: 100)
        /// Most event streams that one credential may have open. A host needs one, or two while it reconnects.
        package var streamsPerCredential = 8

        package init() {}
    }

    private struct State {
        var credentials: TokenBuckets<String>
        var addresses: TokenBuckets<String>
        var streams: [String: Int] = [:]
    }

    private let limits: Limits
    private let now: @Sendable () -> MonotonicTime
    private let state: Mutex<State>

    package init(limits: Limits = Limits(), now: @escaping @Sendable () -> MonotonicTime) {
        self.limits = limits
        self.now = now
        let start = now()
        state = Mutex(
            State(
                credentials: TokenBuckets(rate: limits.perCredential, at: start),
                addresses: TokenBuckets(rate: limits.perAddress, at: start)))
    }

    /// Counts one request with a valid credential.
    package func admit(credential id: String) throws(CloudFailure) {
        let now = now()
        try check(state.withLock { $0.credentials.take(id, at: now) }, "this token")
    }

    /// Counts one request without a valid credential.
    package func admit(address: String) throws(CloudFailure) {
        let now = now()
        try check(state.withLock { $0.addresses.take(address, at: now) }, "the address \(address)")
    }

    /// Counts one more event stream of a credential; `closeStream` ends it.
    package func openStream(credential id: String) throws(CloudFailure) {
        let isOpened = state.withLock { state in
            guard state.streams[id, default: 0] < limits.streamsPerCredential else { return false }
            state.streams[id, default: 0] += 1
            return true
        }
        guard !isOpened else { return }
        throw CloudFailure(
            .rateLimited,
            "this token has \(limits.streamsPerCredential) event streams open already; close one of them",
            retryAfter: .seconds(30))
    }

    package func closeStream(credential id: String) {
        state.withLock { state in
            let rest = state.streams[id, default: 0] - 1
            state.streams[id] = rest > 0 ? rest : nil
        }
    }

    /// Number of open event streams.
    package var streams: Int { state.withLock { $0.streams.values.reduce(0, +) } }

    private func check(_ wait: Duration?, _ asker: String) throws(CloudFailure) {
        guard let wait else { return }
        throw CloudFailure(
            .rateLimited, "too many requests with \(asker); try again in \(wait.milliseconds) ms", retryAfter: wait)
    }
}
