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
