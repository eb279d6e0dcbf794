import Domain
import Logging

/// The search for a meter that is not heard here because another host is connected to it: a Bluetooth LE meter with a
/// connection does not advertise (Docs/Operating.md#a-meter-that-is-not-heard-here). So the zone is asked first, and
/// the meter looked for while the lease is kept. Only a person's command starts one; what a host resumes by itself
/// waits until the meter is heard.
///
/// Whoever calls it sets the alarm afterwards.
final class MeterSearch {
    private let states: MeterStates
    private let claim: LinkClaim
    private let waits: SessionWaits
    /// Until the zone answers, when asking ends; from then on, when the lease is given back. Nil without a search.
    private(set) var endsAt: MonotonicTime? { didSet { states.mark() } }
    /// How long to look for the meter. Nil while its lease is being asked for.
    private var patience: Duration? { didSet { states.mark() } }
    /// When the last unsuccessful search ended.
    private var notHeardAt: MonotonicTime?

    /// For this long after an unsuccessful search, a take-over of the meter from this host needs a person's
    /// confirmation.
    private static let doubtAfterSearch = Duration.seconds(600)

    init(_ states: MeterStates, claim: LinkClaim, waits: SessionWaits) {
        self.states = states
        self.claim = claim
        self.waits = waits
    }

    var isOn: Bool { endsAt != nil }

    /// The time left to hear the meter; nil unless its lease is kept for that.
    func left(at now: MonotonicTime) -> Duration? { patience == nil ? nil : endsAt.map { $0 - now } }

    /// Whether the last search failed a short while ago.
    var wasNotHeard: Bool { notHeardAt.map { states.now < $0 + Self.doubtAfterSearch } ?? false }

    /// - Parameter time: how long the lease is asked for.
    func begin(for time: Duration) { (endsAt, patience) = (states.now + time, nil) }

    /// The zone granted the meter.
    func granted(_ permission: LinkPermission) {
        guard case .leased = permission else {
            // Permission without a lease is of no use while there is no link.
            claim.giveBack(.letGo)
            claim.cancel()
            return end(with: .unanswered)
        }
        // A permission that replaces another is a renewal.
        guard self.patience == nil else { return }
        let patience = claim.searchTime
        (endsAt, self.patience) = (states.now + patience, patience)
        states.logger.info("looking for the meter", metadata: ["for": "\(patience)"])
        waits.endAll(with: .permitted, of: .permission)
    }

    /// The meter is here: from now on all goes as usual, with the lease kept for the first attempts at a link.
    func found() {
        guard isOn else { return }
        drop()
        notHeardAt = nil
        claim.giveBack(.linkLost)
    }

    /// Ends a search whose time is over.
    func endInVain() {
        guard let endsAt, states.now >= endsAt else { return }
        guard let patience else {
            claim.cancel()
            return end(with: .timedOut)
        }
        states.lastError = "it was not heard here for \(patience.components.seconds) s, so its lease was given back"
        notHeardAt = states.now
        states.logger.notice("the meter is not heard: its lease is given back", metadata: ["after": "\(patience)"])
        claim.giveBack(.letGo)
        end(with: .notHeard(patience))
    }

    func end(with outcome: DeviceSession.DataWait) {
        guard isOn else { return }
        drop()
        waits.endAll(with: outcome)
    }

    /// Nobody looks for the meter any more.
    func drop() { (endsAt, patience) = (nil, nil) }
}

extension DeviceSession {
    /// As `connect`, for a meter that is not here.
    package func seek(_ options: ConnectOptions, patience: Duration) {
        connect(options)
        guard !isShutDown, claim.asksFirst, !states.machine.isPresent, claim.permission == nil else { return }
        search.begin(for: patience)
        claim.ask(over: line.leaseTransport, options.intent)
        arm()
    }
}
