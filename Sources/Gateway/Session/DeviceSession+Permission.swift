import ConnectionCore
import GatewayAPI
import LeaseCore
package import MeterModel

/// How a person wants a meter connected.
package struct ConnectManner: Hashable, Sendable {
    /// Whoever else has it is to let go.
    package var isTakeover: Bool
    /// Wait until it is free.
    package var standsInLine: Bool
    /// Ask nobody.
    package var isExempt: Bool
    /// Which kind of link to use where the meter has several; nil: as was asked for last.
    package var link: LinkWish?

    package init(
        isTakeover: Bool = false, standsInLine: Bool = false, isExempt: Bool = false, link: LinkWish? = nil
    ) {
        self.link = link
        self.isTakeover = isTakeover
        self.standsInLine = standsInLine
        self.isExempt = isExempt
    }
}

extension ConnectManner {
    var wish: LeaseWish { LeaseWish(isTakeover: isTakeover, waitsInLine: standsInLine, isAsked: true) }
}

/// Which kind of link a person wants to a meter.
package enum LinkWish: Hashable, Sendable {
    /// The usual one.
    case any
    case only(LinkAddress.Transport)

    /// nil for what is no kind of link.
    init?(_ text: String) {
        if text == Self.anyWord {
            self = .any
        } else if let transport = LinkAddress.Transport(rawValue: text) {
            self = .only(transport)
        } else {
            return nil
        }
    }

    /// How people say that they have no wish.
    static let anyWord = "any"

    var transport: LinkAddress.Transport? { if case .only(let transport) = self { transport } else { nil } }
}

/// Which refusals a wait for a meter outlasts.
enum Patience: Hashable, Sendable {
    case none
    /// The end of the holder that loses it. That another has it is the last word: the one it was to be taken from no
    /// longer does, or the cloud is of a version that takes over in another way.
    case takeover
    /// Until it is free.
    case line

    func outlasts(_ refusal: LinkRefusal) -> Bool {
        switch self {
        case .none: false
        case .takeover: refusal.reason != .held
        case .line: true
        }
    }
}

/// Asking whether the meter may be used, and stopping when it may not.
extension DeviceSession {
    /// Has another gate from now on, or none. A link that is up under the old one is made anew; one that nobody had a
    /// say in is told to the new one.
    package func use(_ newGate: (any LinkGate)?) {
        guard !isShutDown else { return }
        if gate != nil {
            if permission != nil, note("another cloud", { machine.permissionLost(at: loop.now) }) == .closeChannel {
                leaveCleanly()
            }
            returnPermission(.letGo)
            endSearch(with: .unanswered)
            gate?.attach(id, tell: nil)
        }
        gate = newGate
        refusal = nil
        machine.asksFirst = newGate != nil && !isExempt
        attachToGate()
        if machine.awaitsPermission {
            if machine.asksFirst {
                requestPermission()
            } else if note("no permission needed", { machine.permitted(at: loop.now) }) == .openChannel {
                openChannel()
            }
        } else if channel != nil, machine.asksFirst {
            gate?.ask(for: id, .resume, over: leaseTransport, isUp: true)
        }
        wake()
    }

    func attachToGate() {
        gate?.attach(id) { [weak self] verdict in self?.assumeIsolated { $0.take(verdict) } }
    }

    func take(_ manner: ConnectManner) {
        isExempt = manner.isExempt
        prefer(manner.link)
        machine.asksFirst = gate != nil && !isExempt
        patience = manner.standsInLine ? .line : manner.isTakeover ? .takeover : .none
        refusal = nil
        // Of a meter that is not here the wish would lie in wait until somebody has long forgotten it.
        wish = machine.isPresent && machine.asksFirst ? manner.wish : .resume
        // A link may be up already that nobody permitted, or that another host is in the way of a lease for.
        if channel != nil, manner.isTakeover || permission == nil, machine.asksFirst {
            gate?.ask(for: id, manner.wish, over: leaseTransport, isUp: true)
        }
    }

    /// A link of another kind than the one asked for is made anew, where the meter has one of that kind.
    private func prefer(_ wish: LinkWish?) {
        if let wish { links.preferred = wish.transport }
        links.beginAnew()
        takePreferredLink()
    }

    /// Goes over to the kind of link that a person asked for, where one of another kind is in use.
    func takePreferredLink() {
        guard channel != nil, let transport = links.preferred, let link, link.transport != transport,
            links.next?.transport == transport
        else { return chooseLink() }
        leaveCleanly()
        note("\(transport.rawValue) asked for") { machine.channelClosed(at: loop.now, dice: dice.next()) }
        returnPermission(.linkLost)
        chooseLink()
    }

    func requestPermission() {
        let asked = wish
        wish = .resume
        gate?.ask(for: id, asked, over: leaseTransport, isUp: false)
    }

    /// The channel that was permitted is closed.
    func returnPermission(_ end: ChannelEnd) {
        guard permission != nil else { return }
        permission = nil
        gate?.channelClosed(id, end)
    }

    private func take(_ verdict: LinkVerdict) {
        switch verdict {
        case .permitted(let permission): permitted(permission)
        case .refused(let refusal): refused(refusal)
        case .withdrawn(let cause): withdrawn(cause)
        }
    }

    private func permitted(_ permission: LinkPermission) {
        self.permission = permission
        if case .leased(let permit) = permission {
            recording?.leased(permit.token.rawValue)
        } else {
            recording?.leased(0)
        }
        refusal = nil
        // Its turn came. Who has the meter after this is news for whoever waits.
        patience = .none
        if search != nil { return granted(permission) }
        if channel == nil {
            switch note("permitted", { machine.permitted(at: loop.now) }) {
            case .openChannel:
                endWaits(with: .permitted, of: .permission)
                openChannel()
            case .none:
                // Nobody waits for it any more.
                returnPermission(.attemptFailed)
            }
        }
        // What was held back in jeopardy.
        tellSettings()
        arm()
    }

    private func refused(_ refusal: LinkRefusal) {
        guard machine.awaitsPermission || search != nil else { return }
        switch refusal.reason {
        case .held, .revoking, .reserved:
            self.refusal = refusal
            lastError = "\(refusal.holder ?? "another host") has it"
            if !patience.outlasts(refusal) { endWaits(with: .elsewhere(refusal)) }
        case .restoring:
            lastError = "the cloud was restored from a backup and gives out nothing new for some minutes"
        case .released, .exhausted:
            lastError = "the cloud gives no lease: \(refusal.reason.rawValue)"
        }
    }

    private func withdrawn(_ cause: String) {
        lastError = cause
        let action = note(cause) { machine.permissionLost(at: loop.now) }
        if action == .closeChannel { leaveCleanly() }
        permission = nil
        // Also where nothing was permitted: a link that was up before there was a gate.
        gate?.channelClosed(id, .letGo)
        endSearch(
            with: .elsewhere(LinkRefusal(reason: .held, holder: gate?.lease(of: id).holder, remaining: nil)))
        wake()
    }

    // MARK: Times of the permission

    /// When the link is cut whatever else happens; nil where nothing ends it.
    var hardStop: MonotonicTime? {
        guard case .leased(let permit)? = permission, permit.terms.policy == .strict else { return nil }
        return permit.hardStopAt
    }

    var isPastHardStop: Bool { hardStop.map { loop.now >= $0 } ?? false }

    /// Under `strict`, a lease that was not renewed for long is good for reading only.
    var isInJeopardy: Bool {
        guard case .leased(let permit)? = permission, permit.terms.policy == .strict else { return false }
        return loop.now >= permit.jeopardyAt
    }

    /// The watchdog: it needs no word from whoever renews the lease.
    func stopAtHardStop() {
        guard isPastHardStop else { return }
        lastError = "its lease could not be renewed in time, and another host may use it soon"
        if isLinkUp { counters.disconnects += 1 }
        note("lease over") { machine.permissionLost(at: loop.now) }
        // Without a word to the meter: it may have another host's ear by now.
        dropChannel()
        returnPermission(.letGo)
        endSearch(with: .unanswered)
    }

    func jeopardy(_ command: MeterCommand) -> GatewayError {
        GatewayError(
            .refused, "the lease of \(id) could not be renewed for long, so \(command) is not sent",
            next: "meterctl cloud status says why; the lease comes back by itself once the cloud answers")
    }

    private var leaseTransport: LeaseTransport {
        switch link?.transport {
        case .ble: .ble
        case .spp: .spp
        case .serial, .hid, .bulk: .usb
        // Not here: an address is a radio's, whatever else leads to the meter.
        case nil: if case .mac = id { .ble } else { .usb }
        }
    }
}
