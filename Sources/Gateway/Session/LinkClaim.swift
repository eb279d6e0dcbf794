import Domain
import GatewayAPI
import Logging

/// The right to use the links to one meter: what the gate was asked, and what it answered.
///
/// A class, because the gate may answer before a call to it has returned.
final class LinkClaim {
    private let meter: MeterID
    /// The gate to ask, if there is one.
    private var gate: (any LinkGate)?
    /// For the present attempt or link. Always nil without a gate.
    private(set) var permission: LinkPermission?
    /// Who has the meter instead, if the gate has said so.
    private(set) var refusal: LinkRefusal?
    /// The gate gives no permission, as this host may only look.
    private(set) var isBarred = false
    /// How to ask for the next permission.
    private var intent = LeaseIntent.resume
    /// A person wants the meter connected without asking the gate.
    private var isExempt = false
    /// The refusals that do not end a wait for this meter.
    private var patience = Patience.none
    /// The holder of a meter with this one's serial number that the log has named last.
    private var lastTwinHolder: String?

    init(on meter: MeterID, gate: (any LinkGate)?) {
        self.meter = meter
        self.gate = gate
    }

    // MARK: Wishes

    var hasGate: Bool { gate != nil }
    /// Whether each attempt begins with a request for permission.
    var asksFirst: Bool { gate != nil && !isExempt }

    func attach(_ tell: @escaping @Sendable (LinkVerdict) -> Void) { gate?.attach(meter, tell: tell) }

    func detach() { gate?.attach(meter, tell: nil) }

    /// Changes the gate, after detaching from the former one.
    func use(_ gate: (any LinkGate)?) {
        self.gate = gate
        (refusal, isBarred) = (nil, false)
    }

    func adopt(_ options: ConnectOptions, isPresent: Bool) {
        isExempt = options.isExempt
        patience = options.standsInLine ? .line : options.isTakeover ? .takeover : .none
        (refusal, isBarred) = (nil, false)
        // For a meter that is not here, the intent would lie in wait until everybody has forgotten it.
        intent = isPresent && asksFirst ? options.intent : .resume
    }

    /// Asks for an attempt, once in the way a person wished.
    ///
    /// - Parameter newIntent: for a meter that is asked for although it is not here.
    func ask(over transport: LeaseTransport, _ newIntent: LeaseIntent? = nil) {
        let asked = newIntent ?? intent
        intent = .resume
        gate?.ask(for: meter, asked, over: transport, isUp: false)
    }

    /// Asks to keep a link that is already up.
    func askToStay(over transport: LeaseTransport, _ intent: LeaseIntent = .resume) {
        gate?.ask(for: meter, intent, over: transport, isUp: true)
    }

    func cancel() { gate?.cancel(meter) }

    func linkUp() { gate?.linkUp(meter) }

    // MARK: The gate's answers

    func permitted(_ permission: LinkPermission) {
        self.permission = permission
        (refusal, isBarred) = (nil, false)
        // Its turn has come. If somebody has the meter after this, those who wait learn of it.
        patience = .none
    }

    func refused(_ refusal: LinkRefusal) { self.refusal = refusal }

    func barred() { isBarred = true }

    /// Whether a meter that is plugged in here is so at another host too, which has its lease. If it was not moved a
    /// moment ago, two meters have its serial number.
    func hasTwin(over transport: LeaseTransport) -> Bool {
        guard case .usb = meter, transport == .usb, let lease else { return false }
        return [.elsewhere, .waiting].contains(lease.state) && lease.transport == LeaseTransport.usb.rawValue
    }

    /// - Returns: what people are told of a meter that has a twin.
    func twin(at holder: String?, _ logger: Logger) -> String {
        let words = "it is plugged in here and at \(holder ?? "another host")"
        if lastTwinHolder != holder {
            logger.warning(
                "two hosts have a meter with one serial number plugged in",
                metadata: ["cause": "\(words)", "next": "\(meter.twinRemedy)"])
        }
        lastTwinHolder = holder
        return "\(words): \(meter.twinRemedy)"
    }

    /// The refusal that ends the waits for the meter, if there is one.
    var lastWord: LinkRefusal? { refusal.flatMap { patience.outlasts($0) ? nil : $0 } }

    /// The permitted channel is closed. Harmless if nothing is permitted.
    func giveBack(_ end: ChannelEnd) {
        guard permission != nil else { return }
        permission = nil
        gate?.channelClosed(meter, end)
    }

    /// A link that was up before there was a gate, and so without permission, was closed because the gate said so.
    func giveWay() { gate?.channelClosed(meter, .letGo) }

    /// What the gate says about the lease, if there is a gate.
    var lease: LeaseStatus? { gate?.lease(of: meter) }

    /// How long to look for the meter once it is granted.
    var searchTime: Duration { gate?.searchTime(for: meter) ?? LeaseTiming.searchTime }

    // MARK: Times

    /// When the link is cut whatever else happens, if anything limits it.
    var hardStop: MonotonicTime? { strictPermit?.hardStopAt }

    func isPastHardStop(at now: MonotonicTime) -> Bool { hardStop.map { now >= $0 } ?? false }

    /// Under `strict`, a lease not renewed for long allows reading only.
    func isInJeopardy(at now: MonotonicTime) -> Bool { strictPermit.map { now >= $0.jeopardyAt } ?? false }

    private var strictPermit: LeasePermit? {
        guard case .leased(let permit)? = permission, permit.terms.policy == .strict else { return nil }
        return permit
    }
}

extension LinkRefusal {
    /// Whether somebody has the meter, or is about to.
    var isElsewhere: Bool { [.held, .revoking, .reserved].contains(reason) }

    /// The refusal for people.
    var words: String {
        switch reason {
        case .held, .revoking, .reserved: "\(holder ?? "another host") has it"
        case .restoring: "the cloud was restored from a backup and gives out nothing new for some minutes"
        case .released: "the cloud gives no lease: \(reason.rawValue)"
        case .exhausted: "the zone has no room for another lease: metercloud zone set --max-leases"
        }
    }
}

extension GatewayError {
    /// The error for what a host may not do that may only look.
    ///
    /// - Parameter consequence: what is not done, as the end of a sentence.
    package static func mayOnlyLook(_ consequence: String) -> GatewayError {
        GatewayError(
            .permission, "this host may only look, as its token is read-only, so \(consequence)",
            next: "metercloud token create, on the cloud's machine, makes a token with which it may do more: meterctl "
                + "cloud join URL --token-file FILE")
    }

    /// The error, under `strict`, for a meter whose lease was not renewed for long.
    static func jeopardy(_ meter: MeterID, _ consequence: String) -> GatewayError {
        GatewayError(
            .refused, "the lease of \(meter) could not be renewed for long, so \(consequence)",
            next: "meterctl cloud status says why; the lease comes back by itself once the cloud answers")
    }
}
