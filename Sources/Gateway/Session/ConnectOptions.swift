package import Domain

/// How a person wants a meter connected.
package struct ConnectOptions: Hashable, Sendable {
    /// Take the meter over from whoever has it.
    package var isTakeover: Bool
    /// Wait in line until the meter is free.
    package var standsInLine: Bool
    /// Connect without asking for a lease.
    package var isExempt: Bool
    /// The kind of link to use if the meter has several. If nil, the kind last asked for stays in force.
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

/// The kind of link that a person wants to a meter.
package enum LinkPreference: Hashable, Sendable {
    /// The usual order of preference.
    case any
    case only(LinkAddress.Transport)

    /// Nil if the text does not name a kind of link.
    init?(_ text: String) {
        if text == Self.anyWord {
            self = .any
        } else if let transport = LinkAddress.Transport(rawValue: text) {
            self = .only(transport)
        } else {
            return nil
        }
    }

    /// The word for "no preference".
    static let anyWord = "any"

    var transport: LinkAddress.Transport? { if case .only(let transport) = self { transport } else { nil } }
}

/// The refusals that do not end a wait for a meter.
enum Patience: Hashable, Sendable {
    case none
    /// Waits for the present holder's lease to end. A refusal as held is final: the holder to take it from no longer
    /// has it, or the cloud is of a version that takes over in another way.
    case takeover
    /// Waits until the meter is free.
    case line

    func outlasts(_ refusal: LinkRefusal) -> Bool {
        switch self {
        case .none: false
        case .takeover: refusal.reason != .held
        case .line: true
        }
    }
}
