package import Cloud
import CloudAPI
package import Domain
package import ServerKit
import Synchronization

package final class RequestGate: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Limit for requests other than readings, far above the needs of a host's first sync, its renewals and a
        /// person's clicks.
        package var perCredential = Rate(perSecond: 100, burst: 400)
        /// Limit for batches of readings. A host sends four a second for each watched meter.
        package var relayPerCredential = Rate(perSecond: 1000, burst: 2000)
        /// Limit for clients without a valid credential: guessed tokens, health checks and requests for metrics.
        package var perAddress = Rate(perSecond: 10, burst: 100)
        /// Maximum number of streams. A host needs one, or two while it reconnects.
        package var streamsPerCredential = 8
        /// Maximum number of meters watched at a time.
        package var watchesPerCredential = 256

        package init() {}
    }

    private struct State {
        var credentials: TokenBuckets<String>
        var relays: TokenBuckets<String>
        var addresses: TokenBuckets<String>
        var streams: [StreamKind: [String: Int]] = [:]
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
                relays: TokenBuckets(rate: limits.relayPerCredential, at: start),
                addresses: TokenBuckets(rate: limits.perAddress, at: start)))
    }

    /// - Parameter isRelay: whether the request is a batch of readings.
    /// - Throws: the refusal, if the credential's rate is exceeded.
    package func admit(credential id: String, isRelay: Bool = false) throws(CloudFailure) {
        let now = now()
        let wait = state.withLock { state in
            isRelay ? state.relays.take(id, at: now) : state.credentials.take(id, at: now)
        }
        try check(wait, "this token")
    }

    package func admit(address: String) throws(CloudFailure) {
        let now = now()
        try check(state.withLock { $0.addresses.take(address, at: now) }, "the address \(address)")
    }

    package func openStream(_ kind: StreamKind = .events, credential id: String) throws(CloudFailure) {
        let limit = kind == .events ? limits.streamsPerCredential : limits.watchesPerCredential
        let isOpened = state.withLock { state in
            guard state.streams[kind]?[id] ?? 0 < limit else { return false }
            state.streams[kind, default: [:]][id, default: 0] += 1
            return true
        }
        guard !isOpened else { return }
        throw CloudFailure(
            .rateLimited, "this token has \(limit) \(kind.rawValue) open already; close one of them",
            retryAfter: .seconds(30))
    }

    package func closeStream(_ kind: StreamKind = .events, credential id: String) {
        state.withLock { state in
            let rest = (state.streams[kind]?[id] ?? 0) - 1
            state.streams[kind]?[id] = rest > 0 ? rest : nil
        }
    }

    package var streams: Int { count(of: .events) }
    package var watches: Int { count(of: .watches) }

    private func count(of kind: StreamKind) -> Int {
        state.withLock { $0.streams[kind]?.values.reduce(0, +) ?? 0 }
    }

    package enum StreamKind: String, Hashable, Sendable {
        case events = "event streams"
        case watches = "watched meters"
    }

    private func check(_ wait: Duration?, _ asker: String) throws(CloudFailure) {
        guard let wait else { return }
        throw CloudFailure(
            .rateLimited, "too many requests with \(asker); try again in \(wait.milliseconds) ms", retryAfter: wait)
    }
}
