import Domain
import GatewayAPI
import Logging

/// Permission to use a meter's links. A class, because the gate may answer before a call to it returns: in a struct,
/// these accesses would overlap.
final class LinkClaim {
    private let meter: MeterID
    private var gate: (any LinkGate)?
    /// Always nil without a gate.
    private(set) var permission: LinkPermission?
    private(set) var refusal: LinkRefusal?
    /// Whether the gate refuses permission because this host is read-only.
    private(set) var isBarred = false
    private var intent = LeaseIntent.resume
    private var isExempt = false
    private var patience = Patience.none
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
        // Keep no intent for an absent meter: it would apply later than the user expects.
        intent = isPresent && asksFirst ? options.intent : .resume
    }

    /// - Parameter newIntent: the intent for an absent meter; nil for the stored one, which applies only once.
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
        // The wait in the lease queue is over, so any later refusal ends the callers' waits.
        patience = .none
    }

    func refused(_ refusal: LinkRefusal) { self.refusal = refusal }

    func barred() { isBarred = true }

    /// Returns whether this meter is plugged in here and at the holder of its lease. If so, two meters share the serial
    /// number, unless the meter was just moved.
    func hasTwin(over transport: LeaseTransport) -> Bool {
        guard case .usb = meter, transport == .usb, let lease else { return false }
        return [.elsewhere, .waiting].contains(lease.state) && lease.transport == LeaseTransport.usb.rawValue
    }

    /// Returns the warning about a shared serial number. Logs it for each new holder.
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

    /// Refusal that ends the callers' waits for the meter; nil if they continue to wait.
    var lastWord: LinkRefusal? { refusal.flatMap { patience.outlasts($0) ? nil : $0 } }

    func giveBack(_ end: ChannelEnd) {
        guard permission != nil else { return }
        permission = nil
        gate?.channelClosed(meter, end)
    }

    /// Reports to the gate that, at its request, a link opened before the gate existed was closed.
    func giveWay() { gate?.channelClosed(meter, .letGo) }

    var lease: LeaseStatus? { gate?.lease(of: meter) }

    var searchTime: Duration { gate?.searchTime(for: meter) ?? LeaseTiming.searchTime }

    // MARK: Times

    /// Time at which the lease ends and the link must be cut; nil without a `strict` lease.
    var hardStop: MonotonicTime? { strictPermit?.hardStopAt }

    func isPastHardStop(at now: MonotonicTime) -> Bool { hardStop.map { now >= $0 } ?? false }

    /// Whether only reading is allowed, because a `strict` lease was not renewed for too long.
    func isInJeopardy(at now: MonotonicTime) -> Bool { strictPermit.map { now >= $0.jeopardyAt } ?? false }

    /// Time at which meterd switches off what a meter supplies: a second before the lease is lost, because a `strict`
    /// lease allows nothing afterwards; nil without a lease.
    var supplyEnd: MonotonicTime? { permit.map { $0.hardStopAt - .seconds(1) } }

    private var permit: LeasePermit? {
        guard case .leased(let permit)? = permission else { return nil }
        return permit
    }

    private var strictPermit: LeasePermit? { permit.flatMap { $0.terms.policy == .strict ? $0 : nil } }
}

extension LinkRefusal {
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
