/// Drives one meter through its seven states (Docs/States.md).
///
/// ```
///              appeared             wanted, permitted               channelOpened
///  ┌─────────┐─────────▶┌───────────────┐─────────▶┌────────────┐───────────────▶┌───────────┐
///  │ offline │          │ not-connected │          │ connecting │                │ connected │
///  └─────────┘◀─────────└───────────────┘◀─────────└────────────┘                └───────────┘
///     ▲  vanished              ▲           failed, timed out                 lineReady │
///     │                        │ disconnectWanted                                      ▼
///     │  link lost, silence    │            frameReceived    requestSent         ┌───────────┐
///     └──────── connected … data-available ◀──────────── communicating ◀─────────│   ready   │
///                                    └──── stale ────────────▶                   └───────────┘
/// ```
///
/// The machine performs no I/O and reads no clock. Every method reports an event and returns the action; then call
/// `woke` at `nextWake`. A wanted, present meter is retried without limit, until a user's `disconnectWanted`.
///
/// With `asksFirst`, each attempt begins with a request for permission, which covers only that attempt and its link.
package struct ConnectionMachine: Sendable {
    private var phase: Phase
    package private(set) var isPresent = false
    package private(set) var isWanted: Bool
    /// Failed attempts since the last data.
    package private(set) var failures = 0
    package private(set) var timing: ConnectionTiming
    /// Whether each attempt must first request permission.
    package var asksFirst: Bool

    package init(timing: ConnectionTiming, isWanted: Bool, asksFirst: Bool = false) {
        self.timing = timing
        self.isWanted = isWanted
        self.asksFirst = asksFirst
        phase = .offline(recheckAt: nil)
    }

    /// Handles a device that was plugged in, or advertises again: starts an attempt immediately, regardless of earlier
    /// failures.
    package mutating func appeared(at now: MonotonicTime) {
        isPresent = true
        beginAnew(at: now)
    }

    package enum OnVanished: Equatable, Sendable { case closeChannel, none }

    /// Handles a device whose node is gone, or that has not advertised for the advert-stale time (`RadioSightings`).
    package mutating func vanished() -> OnVanished {
        isPresent = false
        defer { phase = .offline(recheckAt: nil) }
        return hasChannel ? .closeChannel : .none
    }

    /// Starts an attempt immediately, regardless of earlier failures.
    package mutating func connectWanted(at now: MonotonicTime) {
        isWanted = true
        if isPresent { beginAnew(at: now) }
    }

    package enum OnDisconnectWanted: Equatable, Sendable { case closeChannel, none }

    package mutating func disconnectWanted() -> OnDisconnectWanted {
        isWanted = false
        failures = 0
        let hadChannel = hasChannel
        phase = isPresent ? .notConnected(retryAt: nil) : .offline(recheckAt: nil)
        return hadChannel ? .closeChannel : .none
    }

    package enum OnChannelOpened: Equatable, Sendable { case setUpLine, closeChannel }

    package mutating func channelOpened(at now: MonotonicTime) -> OnChannelOpened {
        guard case .connecting = phase else { return .closeChannel }
        phase = .connected(since: now)
        return .setUpLine
    }

    package enum OnLineReady: Equatable, Sendable { case startExchange, none }

    /// Handles the end of the model's set-up commands.
    package mutating func lineReady(at now: MonotonicTime) -> OnLineReady {
        guard case .connected = phase else { return .none }
        phase = .ready(since: now)
        return .startExchange
    }

    /// Handles a sent request, or the beginning of the wait for a self-sending meter's first frame.
    package mutating func requestSent(at now: MonotonicTime) {
        guard case .ready = phase else { return }
        phase = .communicating(silentSince: now)
    }

    /// Handles a frame that passed all checks of the model.
    package mutating func frameReceived(at now: MonotonicTime) {
        switch phase {
        case .ready, .communicating, .dataAvailable:
            failures = 0
            phase = .dataAvailable(lastFrame: now)
        case .offline, .notConnected, .awaitingPermission, .connecting, .connected:
            break
        }
    }

    /// Handles a channel that closed unexpectedly or could not be opened.
    package mutating func channelClosed(at now: MonotonicTime, random: UInt64) {
        switch phase {
        case .connecting:
            failures += 1
            phase = .notConnected(retryAt: retryTime(at: now, random: random))
        case .connected, .ready, .communicating, .dataAvailable:
            loseLink(at: now)
        case .offline, .notConnected, .awaitingPermission:
            break
        }
    }

    package enum OnPermitted: Equatable, Sendable {
        case openChannel
        /// The permission is no longer needed, or the link is already up.
        case none
    }

    package mutating func permitted(at now: MonotonicTime) -> OnPermitted {
        guard case .awaitingPermission = phase else { return .none }
        phase = .connecting(since: now)
        return .openChannel
    }

    package enum OnPermissionLost: Equatable, Sendable { case closeChannel, none }

    /// Closes the link, and immediately requests another permission.
    package mutating func permissionLost(at now: MonotonicTime) -> OnPermissionLost {
        guard hasChannel else { return .none }
        phase = .notConnected(retryAt: now)
        return .closeChannel
    }

    package enum OnWake: Equatable, Sendable {
        case openChannel
        /// Request permission for a link; call `permitted` once it is granted.
        case requestPermission
        case closeChannel(Overdue)
        case none
    }

    package enum Overdue: Equatable, Sendable {
        case connecting
        case silent
    }

    /// Handles due timeouts and retries. May be called at any time.
    package mutating func woke(at now: MonotonicTime, random: @autoclosure () -> UInt64) -> OnWake {
        switch phase {
        case .offline(let recheckAt?) where now >= recheckAt:
            phase = .notConnected(retryAt: retryTime(at: now, random: random()))
            return .none
        case .notConnected(let retryAt?) where now >= retryAt && asksFirst:
            phase = .awaitingPermission
            return .requestPermission
        case .notConnected(let retryAt?) where now >= retryAt:
            phase = .connecting(since: now)
            return .openChannel
        case .connecting(let since) where now - since >= timing.connectTimeout:
            failures += 1
            phase = .notConnected(retryAt: retryTime(at: now, random: random()))
            return .closeChannel(.connecting)
        case .connected(let since) where now - since >= timing.connectTimeout,
            .ready(let since) where now - since >= timing.silenceTimeout,
            .communicating(let since) where now - since >= timing.silenceTimeout:
            loseLink(at: now)
            return .closeChannel(.silent)
        case .dataAvailable(let lastFrame) where now - lastFrame >= timing.staleAfter:
            phase = .communicating(silentSince: lastFrame)
            return .none
        case .offline, .notConnected, .awaitingPermission, .connecting, .connected, .ready, .communicating,
            .dataAvailable:
            return .none
        }
    }

    /// Applies new timeouts. A silence counts from now, because its earlier part was subject to the old ones.
    package mutating func timingChanged(_ timing: ConnectionTiming, at now: MonotonicTime) {
        guard timing != self.timing else { return }
        self.timing = timing
        switch phase {
        case .dataAvailable(let lastFrame) where now - lastFrame >= timing.staleAfter:
            phase = .communicating(silentSince: now)
        case .communicating: phase = .communicating(silentSince: now)
        case .ready: phase = .ready(since: now)
        case .offline, .notConnected, .awaitingPermission, .connecting, .connected, .dataAvailable: break
        }
    }

    /// Time of the next call of `woke`; nil if only an event can change the state.
    package var nextWake: MonotonicTime? {
        switch phase {
        case .offline(let recheckAt): recheckAt
        case .notConnected(let retryAt): retryAt
        case .awaitingPermission: nil
        case .connecting(let since), .connected(let since): since + timing.connectTimeout
        case .ready(let since), .communicating(let since): since + timing.silenceTimeout
        case .dataAvailable(let lastFrame): lastFrame + timing.staleAfter
        }
    }

    package var state: ConnectionState {
        switch phase {
        case .offline: .offline
        case .notConnected, .awaitingPermission: .notConnected
        case .connecting: .connecting
        case .connected: .connected
        case .ready: .ready
        case .communicating: .communicating
        case .dataAvailable: .dataAvailable
        }
    }

    package var retryAt: MonotonicTime? {
        if case .notConnected(let retryAt) = phase { retryAt } else { nil }
    }

    package var awaitsPermission: Bool {
        if case .awaitingPermission = phase { true } else { false }
    }
}

extension ConnectionMachine {
    private var hasChannel: Bool {
        switch phase {
        case .offline, .notConnected, .awaitingPermission: false
        case .connecting, .connected, .ready, .communicating, .dataAvailable: true
        }
    }

    private mutating func beginAnew(at now: MonotonicTime) {
        guard !hasChannel else { return }
        failures = 0
        phase = .notConnected(retryAt: isWanted ? now : nil)
    }

    /// Counts the lost link as a failed attempt, so that pauses grow while links bring no data. Data resets the count.
    private mutating func loseLink(at now: MonotonicTime) {
        failures += 1
        phase = .offline(recheckAt: now + timing.settleTime)
    }

    private func retryTime(at now: MonotonicTime, random: UInt64) -> MonotonicTime {
        now + timing.backoff.delay(afterFailures: failures, random: random)
    }

    /// Phase of the connection. An unwanted or absent meter has neither a channel nor a retry time.
    fileprivate enum Phase: Sendable {
        /// Next: `notConnected` (if the device is present after the settle time), `connecting` (if it appears).
        case offline(recheckAt: MonotonicTime?)
        /// If `retryAt` is nil, waits for a user. Next: `connecting`, `awaitingPermission`, `offline`.
        case notConnected(retryAt: MonotonicTime?)
        /// Reported as not connected. Next: `connecting`, `notConnected`, `offline`.
        case awaitingPermission
        /// Next: `connected`, `notConnected`, `offline`.
        case connecting(since: MonotonicTime)
        /// Next: `ready`, `offline`, `notConnected`.
        case connected(since: MonotonicTime)
        /// Next: `communicating`, `dataAvailable`, `offline`, `notConnected`.
        case ready(since: MonotonicTime)
        /// Next: `dataAvailable`, `offline`, `notConnected`.
        case communicating(silentSince: MonotonicTime)
        /// Next: `communicating`, `offline`, `notConnected`.
        case dataAvailable(lastFrame: MonotonicTime)
    }
}
