package import Domain

package struct ConnectOptions: Hashable, Sendable {
    package var isTakeover: Bool
    package var standsInLine: Bool
    /// Whether to connect without a lease.
    package var isExempt: Bool
    /// Kind of link to use; nil keeps the kind last requested.
    package var link: LinkPreference?

    package init(
        isTakeover: Bool = false, standsInLine: Bool = false, isExempt: Bool = false, link: LinkPreference? = nil
    ) {
        self.link = link
        self.isTakeover = isTakeover
        self.standsInLine = standsInLine
        self.isExempt = isExempt
    }
}

extension ConnectOptions {
    var intent: LeaseIntent { LeaseIntent(isTakeover: isTakeover, waitsInLine: standsInLine, isAsked: true) }
}

package enum LinkPreference: Hashable, Sendable {
    case any
    case only(LinkAddress.Transport)

    init?(_ text: String) {
        if text == Self.anyWord {
            self = .any
        } else if let transport = LinkAddress.Transport(rawValue: text) {
            self = .only(transport)
        } else {
            return nil
        }
    }

    static let anyWord = "any"

    var transport: LinkAddress.Transport? { if case .only(let transport) = self { transport } else { nil } }
}

/// Refusals that do not end a wait for a meter.
enum Patience: Hashable, Sendable {
    case none
    /// Wait after a take-over: only `held` ends it. Then the holder has changed, or the cloud's version handles
    /// take-overs differently.
    case takeover
    case line

    func outlasts(_ refusal: LinkRefusal) -> Bool {
        switch self {
        case .none: false
        case .takeover: refusal.reason != .held
        case .line: true
        }
    }
}
