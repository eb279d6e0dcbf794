import Domain
import GatewayAPI
import Logging

/// Right to use the links to one meter. A class, because the gate may answer before a call to it returns: in a struct,
/// these accesses would overlap.
final class LinkClaim {
    private let meter: MeterID
    private var gate: (any LinkGate)?
    /// Permission for the current attempt or link; always nil without a gate.
    private(set) var permission: LinkPermission?
    /// Last refusal because another host has the meter or will get it next.
    private(set) var refusal: LinkRefusal?
    /// Whether the gate gives no permission because this host is read-only.
    private(set) var isBarred = false
    private var intent = LeaseIntent.resume
    /// Whether a user wants the meter connected without asking the gate.
    private var isExempt = false
    private var patience = Patience.none
    /// Host last logged as having a meter with the same serial number.
    private var lastTwinHolder: String?

    init(on meter: MeterID, gate: (any LinkGate)?) {
        self.meter = meter
        self.gate = gate
    }

    // MARK: Wishes

    var hasGate: Bool { gate != nil }
    var asksFirst: Bool { gate != nil && !isExempt }

    func attach(_ tell: @escaping @Sendable (LinkVerdict) -> Void) { gate?.attach(meter, tell: tell) }

    func detach() { gate?.attach(meter, tell: nil) }

    /// Changes the gate. The caller has already detached from the former gate.
    func use(_ gate: (any LinkGate)?) {
        self.gate = gate
        (refusal, isBarred) = (nil, false)
    }

    func adopt(_ options: ConnectOptions, isPresent: Bool) {
        isExempt = options.isExempt
        patience = options.standsInLine ? .line : options.isTakeover ? .takeover : .none
        (refusal, isBarred) = (nil, false)
        // Without a present meter, keep no intent: it would apply later than the user expects.
        intent = isPresent && asksFirst ? options.intent : .resume
    }

    /// Requests permission for an attempt. The user's intent applies once; `newIntent` is for an absent meter.
    func ask(over transport: LeaseTransport, _ newIntent: LeaseIntent? = nil) {
        let asked = newIntent ?? intent
        intent = .resume
        gate?.ask(for: meter, asked, over: transport, isUp: false)
    }

    func askToStay(over transport: LeaseTransport, _ intent: LeaseIntent = .resume) {
        gate?.ask(for: meter, intent, over: transport, isUp: true)
    }

    func cancel() { gate?.cancel(meter) }

    func linkUp() { gate?.linkUp(meter) }

    // MARK: The gate's answers

    func permitted(_ permission: LinkPermission) {
        self.permission = permission
        (refusal, isBarred) = (nil, false)
        // The permission ends the wait in the queue, so any later refusal ends the callers' waits.
        patience = .none
    }

    func refused(_ refusal: LinkRefusal) { self.refusal = refusal }

    func barred() { isBarred = true }

    /// Returns whether a meter plugged in here is also plugged in at the holder of its lease. If so, two meters share
    /// the serial number, unless the meter was just moved.
    func hasTwin(over transport: LeaseTransport) -> Bool {
        guard case .usb = meter, transport == .usb, let lease else { return false }
        return [.elsewhere, .waiting].contains(lease.state) && lease.transport == LeaseTransport.usb.rawValue
    }

    /// Returns the message about a meter with a twin, and logs each new holder.
    func twin(at holder: String?, _ logger: Logger) -> String {
        let words = "it is plugged in here and at \(holder ?? "another host")"
        if lastTwinHolder != holder {
            logger.warning(
                "serial number used by two meters",
                metadata: ["cause": "\(words)", "next": "\(meter.twinRemedy)"])
        }
        lastTwinHolder = holder
        return "\(words): \(meter.twinRemedy)"
    }

    /// Refusal that ends the waits for the meter.
    var lastWord: LinkRefusal? { refusal.flatMap { patience.outlasts($0) ? nil : $0 } }

    /// Reports that the permitted channel closed. Does nothing without a permission.
    func giveBack(_ end: ChannelEnd) {
        guard permission != nil else { return }
        permission = nil
        gate?.channelClosed(meter, end)
    }

    /// Reports that a link opened before the gate existed was closed at the gate's request.
    func giveWay() { gate?.channelClosed(meter, .letGo) }

    var lease: LeaseStatus? { gate?.lease(of: meter) }

    var searchTime: Duration { gate?.searchTime(for: meter) ?? LeaseTiming.searchTime }

    // MARK: Times

    /// Time at which the link must be cut; nil without a `strict` lease.
    var hardStop: MonotonicTime? { strictPermit?.hardStopAt }

    func isPastHardStop(at now: MonotonicTime) -> Bool { hardStop.map { now >= $0 } ?? false }

    /// Returns whether only reading is allowed, because a `strict` lease was not renewed for too long.
    func isInJeopardy(at now: MonotonicTime) -> Bool { strictPermit.map { now >= $0.jeopardyAt } ?? false }

    private var strictPermit: LeasePermit? {
        guard case .leased(let permit)? = permission, permit.terms.policy == .strict else { return nil }
        return permit
    }
}

extension LinkRefusal {
    /// Whether another host has the meter or will get it next.
    var isElsewhere: Bool { [.held, .revoking, .reserved].contains(reason) }

    var words: String {
        switch reason {
        case .held, .revoking, .reserved: "\(holder ?? "another host") has it"
        case .restoring: "the cloud was restored from a backup and grants no new lease for some minutes"
        case .released: "the cloud refuses a lease: \(reason.rawValue)"
        case .exhausted: "the zone has reached its maximum of leases: metercloud zone set --max-leases"
        }
    }
}

extension GatewayError {
    /// Returns the error for an action that a read-only host may not perform.
    ///
    /// - Parameter consequence: description of the omitted action, as the end of a sentence.
    package static func mayOnlyLook(_ consequence: String) -> GatewayError {
        GatewayError(
            .permission, "this host may only look, as its token is read-only, so \(consequence)",
            next: "make another token on the cloud's machine (metercloud token create), then: meterctl cloud join URL "
                + "--token-file FILE")
    }

    static func jeopardy(_ meter: MeterID, _ consequence: String) -> GatewayError {
        GatewayError(
            .refused, "the lease of \(meter) could not be renewed for long, so \(consequence)",
            next: "meterctl cloud status shows the cause; meterd renews the lease once the cloud answers")
    }
}
