import Domain
import Logging

/// Search for a Bluetooth LE meter that does not advertise, because another host is connected to it
/// (Docs/Operating.md#a-meter-that-is-not-heard-here). This host keeps the lease meanwhile. Only a user's command
/// starts a search.
///
/// After each call, the caller must set the session's alarm.
final class MeterSearch {
    private let states: MeterStates
    private let claim: LinkClaim
    private let waits: SessionWaits
    /// End of the lease request or, after the grant, of the search. Nil without a search.
    private(set) var endsAt: MonotonicTime? { didSet { states.mark() } }
    /// Time allowed to find the meter; nil while its lease is requested.
    private var patience: Duration? { didSet { states.mark() } }
    private var notHeardAt: MonotonicTime?

    /// Time after an unsuccessful search during which another take-over needs a user's confirmation.
    private static let doubtAfterSearch = Duration.seconds(600)

    init(_ states: MeterStates, claim: LinkClaim, waits: SessionWaits) {
        self.states = states
        self.claim = claim
        self.waits = waits
    }

    var isOn: Bool { endsAt != nil }

    /// Returns the time left to find the meter; nil unless this host holds the lease for the search.
    func left(at now: MonotonicTime) -> Duration? { patience == nil ? nil : endsAt.map { $0 - now } }

    var wasNotHeard: Bool { notHeardAt.map { states.now < $0 + Self.doubtAfterSearch } ?? false }

    /// - Parameter time: maximum time to request the lease.
    func begin(for time: Duration) { (endsAt, patience) = (states.now + time, nil) }

    func granted(_ permission: LinkPermission) {
        guard case .leased = permission else {
            // A search has no link, so a permission without a lease is useless.
            claim.giveBack(.letGo)
            claim.cancel()
            return end(with: .unanswered)
        }
        // A second permission renews the lease, which does not extend the search.
        guard self.patience == nil else { return }
        let patience = claim.searchTime
        (endsAt, self.patience) = (states.now + patience, patience)
        states.logger.info("meter search started", metadata: ["for": "\(patience)"])
        waits.endAll(with: .permitted, of: .permission)
    }

    /// Ends the search, but keeps the lease for the first attempts at a link.
    func found() {
        guard isOn else { return }
        drop()
        notHeardAt = nil
        claim.giveBack(.linkLost)
    }

    func endInVain() {
        guard let endsAt, states.now >= endsAt else { return }
        guard let patience else {
            claim.cancel()
            return end(with: .timedOut)
        }
        states.lastError = "it was not heard here for \(patience.components.seconds) s, so its lease was given back"
        notHeardAt = states.now
        states.logger.notice("meter search failed", metadata: ["after": "\(patience)"])
        claim.giveBack(.letGo)
        end(with: .notHeard(patience))
    }

    func end(with outcome: DeviceSession.DataWait) {
        guard isOn else { return }
        drop()
        waits.endAll(with: outcome)
    }

    func drop() { (endsAt, patience) = (nil, nil) }
}

extension DeviceSession {
    /// Requests the absent meter's lease for at most `patience`, then searches for the meter.
    package func seek(_ options: ConnectOptions, patience: Duration) {
        connect(options)
        guard !isShutDown, claim.asksFirst, !states.machine.isPresent, claim.permission == nil else { return }
        search.begin(for: patience)
        claim.ask(over: line.leaseTransport, options.intent)
        arm()
    }
}
