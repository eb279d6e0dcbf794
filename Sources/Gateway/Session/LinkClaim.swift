import GatewayAPI
import LeaseCore
import MeterModel

/// The right to use the links to one meter: what the gate is asked for, and what it said.
///
/// A class, because the gate may answer before a call to it has returned.
final class LinkClaim {
    private let meter: MeterID
    /// Who has a say in it; nil: nobody.
    private var gate: (any LinkGate)?
    /// For the present attempt or link. There is none without a gate.
    private(set) var permission: LinkPermission?
    /// Who has it instead, since the gate said so.
    private(set) var refusal: LinkRefusal?
    /// How the next permission is to be asked for.
    private var wish = LeaseWish.resume
    /// A person wants it connected without asking the gate.
    private var isExempt = false
    /// Through what whoever waits for this meter goes on waiting.
    private var patience = Patience.none

    init(on meter: MeterID, gate: (any LinkGate)?) {
        self.meter = meter
        self.gate = gate
    }

    // MARK: What is wanted

    var hasGate: Bool { gate != nil }
    /// Each attempt begins with a request for permission.
    var asksFirst: Bool { gate != nil && !isExempt }

    func attach(_ tell: @escaping @Sendable (LinkVerdict) -> Void) { gate?.attach(meter, tell: tell) }

    func detach() { gate?.attach(meter, tell: nil) }

    /// The former gate was detached from.
    func use(_ gate: (any LinkGate)?) {
        self.gate = gate
        refusal = nil
    }

    func adopt(_ manner: ConnectManner, isPresent: Bool) {
        isExempt = manner.isExempt
        patience = manner.standsInLine ? .line : manner.isTakeover ? .takeover : .none
        refusal = nil
        // Of a meter that is not here the wish would lie in wait until somebody has long forgotten it.
        wish = isPresent && asksFirst ? manner.wish : .resume
    }

    /// Asks for an attempt, as a person wished the last time, but once only.
    ///
    /// - Parameter newWish: of a meter that is not here and is asked for all the same.
    func ask(over transport: LeaseTransport, _ newWish: LeaseWish? = nil) {
        let asked = newWish ?? wish
        wish = .resume
        gate?.ask(for: meter, asked, over: transport, isUp: false)
    }

    /// Asks for a link that is there already.
    func askToStay(over transport: LeaseTransport, _ wish: LeaseWish = .resume) {
        gate?.ask(for: meter, wish, over: transport, isUp: true)
    }

    func cancel() { gate?.cancel(meter) }

    func linkUp() { gate?.linkUp(meter) }

    // MARK: What was said

    func permitted(_ permission: LinkPermission) {
        self.permission = permission
        refusal = nil
        // Its turn came. Who has the meter after this is news for whoever waits.
        patience = .none
    }

    func refused(_ refusal: LinkRefusal) { self.refusal = refusal }

    /// What was said to whoever waits for the meter, and that they do not wait any longer because of it.
    var lastWord: LinkRefusal? { refusal.flatMap { patience.outlasts($0) ? nil : $0 } }

    /// The channel that was permitted is closed. Harmless where nothing is permitted.
    func giveBack(_ end: ChannelEnd) {
        guard permission != nil else { return }
        permission = nil
        gate?.channelClosed(meter, end)
    }

    /// A link that nobody permitted, as it was up before there was a gate, is closed because the gate said so.
    func giveWay() { gate?.channelClosed(meter, .letGo) }

    /// nil: no gate has a say.
    var lease: LeaseStatus? { gate?.lease(of: meter) }

    /// How long the meter is looked for once it was granted.
    var searchTime: Duration { gate?.searchTime(for: meter) ?? LeaseTiming.searchTime }

    // MARK: Its times

    /// When the link is cut whatever else happens; nil where nothing ends it.
    var hardStop: MonotonicTime? { strictPermit?.hardStopAt }

    func isPastHardStop(at now: MonotonicTime) -> Bool { hardStop.map { now >= $0 } ?? false }

    /// Under `strict`, a lease that was not renewed for long is good for reading only.
    func isInJeopardy(at now: MonotonicTime) -> Bool { strictPermit.map { now >= $0.jeopardyAt } ?? false }

    private var strictPermit: LeasePermit? {
        guard case .leased(let permit)? = permission, permit.terms.policy == .strict else { return nil }
        return permit
    }
}

extension GatewayError {
    /// Under `strict`, of a meter whose lease was not renewed for long.
    static func jeopardy(_ meter: MeterID, _ consequence: String) -> GatewayError {
        GatewayError(
            .refused, "the lease of \(meter) could not be renewed for long, so \(consequence)",
            next: "meterctl cloud status says why; the lease comes back by itself once the cloud answers")
    }
}
