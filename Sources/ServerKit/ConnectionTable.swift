package struct ConnectionBounds: Hashable, Sendable {
    /// Maximum number of connections; at least 1.
    package var all: Int
    /// Maximum per IPv4 address or IPv6 network; at least 1.
    package var perAddress: Int
    /// Maximum per address that many clients may share: loopback and configured proxies.
    package var perTrustedAddress: Int
    /// Maximum number of unidentified connections: those without a valid access token yet.
    package var strangers: Int

    package init(all: Int, perAddress: Int, perTrustedAddress: Int? = nil, strangers: Int? = nil) {
        self.all = max(1, all)
        self.perAddress = max(1, perAddress)
        self.perTrustedAddress = max(1, perTrustedAddress ?? perAddress)
        self.strangers = max(1, strangers ?? all)
    }
}

/// A listener's connections. Decides whether to admit another connection, and which one it replaces.
///
/// At the limit of one address, a new connection replaces that address's oldest unidentified one. At the limit of the
/// whole listener, it replaces the oldest of the larger group of unidentified ones: those that have sent nothing, or
/// those that have sent something. So connections that somebody opens in masses replace each other, and not a client
/// in its TLS handshake. Identified clients are never replaced.
package struct ConnectionTable: Sendable {
    package typealias ID = UInt64

    package enum Answer: Hashable, Sendable {
        /// `closing` is the connection that the new one replaces.
        case admitted(ID, closing: ID?)
        case refused
    }

    private let bounds: ConnectionBounds
    private var addresses: [ID: String] = [:]
    private var counts: [String: Int] = [:]
    private var strangers: Set<ID> = []
    /// Unidentified connections that have sent nothing.
    private var silent: Set<ID> = []
    /// Id of the next connection. Ids rise, so the oldest connection has the smallest id.
    private var nextID: ID = 0

    package init(_ bounds: ConnectionBounds) { self.bounds = bounds }

    package var count: Int { addresses.count }
    package var strangerCount: Int { strangers.count }

    /// - Parameter isStranger: false for a listener that does not identify clients; its connections are never replaced.
    package mutating func open(from address: String, isTrusted: Bool, isStranger: Bool) -> Answer {
        let most = isTrusted ? bounds.perTrustedAddress : bounds.perAddress
        var closing: ID?
        if counts[address, default: 0] >= most {
            closing = oldestStranger(from: address)
            guard closing != nil else { return .refused }
        } else if addresses.count >= bounds.all || (isStranger && strangers.count >= bounds.strangers) {
            closing = leastOfStrangers
            guard closing != nil else { return .refused }
        }
        if let closing { close(closing) }
        let id = nextID
        nextID += 1
        addresses[id] = address
        counts[address, default: 0] += 1
        if isStranger {
            strangers.insert(id)
            silent.insert(id)
        }
        return .admitted(id, closing: closing)
    }

    /// Marks a client as identified. Ignores the ids of replaced connections.
    package mutating func know(_ id: ID) {
        strangers.remove(id)
        silent.remove(id)
    }

    package mutating func hear(_ id: ID) { silent.remove(id) }

    /// Removes a closed connection. Repeated calls have no effect.
    package mutating func close(_ id: ID) {
        guard let address = addresses.removeValue(forKey: id) else { return }
        know(id)
        let rest = counts[address, default: 0] - 1
        counts[address] = rest > 0 ? rest : nil
    }

    private var leastOfStrangers: ID? {
        let speaking = strangers.count - silent.count
        return speaking > silent.count ? strangers.lazy.filter { !silent.contains($0) }.min() : silent.min()
    }

    private func oldestStranger(from address: String) -> ID? {
        strangers.lazy.filter { addresses[$0] == address }.min()
    }
}
