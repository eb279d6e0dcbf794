/// Limits on the number of connections that a listener has at a time.
package struct ConnectionBounds: Hashable, Sendable {
    /// In total; at least 1.
    package var all: Int
    /// From one address, or the network of an IPv6 address; at least 1.
    package var perAddress: Int
    /// From one address with many clients behind it: loopback, and proxies that are named.
    package var perTrustedAddress: Int
    /// Connections that have not identified themselves yet. They cost memory all the same, and anybody can open them.
    package var strangers: Int

    package init(all: Int, perAddress: Int, perTrustedAddress: Int? = nil, strangers: Int? = nil) {
        self.all = max(1, all)
        self.perAddress = max(1, perAddress)
        self.perTrustedAddress = max(1, perTrustedAddress ?? perAddress)
        self.strangers = max(1, strangers ?? all)
    }
}

/// The connections of a listener: decides whether there is room for one more, and which one gives way to it.
///
/// At a limit, the oldest connection that has not identified itself gives way to the new one, so that a client that
/// opens many and stays silent keeps nobody out for longer than it takes to say something. Silent connections and those
/// that have sent something share the places equally if there are many of both: connections opened by the thousand push
/// out others like them, rather than a client that is setting up TLS. Connections of known clients never give way.
package struct ConnectionTable: Sendable {
    package typealias ID = UInt64

    package enum Answer: Hashable, Sendable {
        /// It may stay; `closing` is the one that it replaces.
        case admitted(ID, closing: ID?)
        case refused
    }

    private let bounds: ConnectionBounds
    /// The address of each connection.
    private var addresses: [ID: String] = [:]
    private var counts: [String: Int] = [:]
    /// Connections that have not identified themselves.
    private var strangers: Set<ID> = []
    /// Those of them from which nothing has arrived.
    private var silent: Set<ID> = []
    /// Rises with each connection, so that the oldest has the least.
    private var nextID: ID = 0

    package init(_ bounds: ConnectionBounds) { self.bounds = bounds }

    package var count: Int { addresses.count }
    package var strangerCount: Int { strangers.count }

    /// One more connection.
    ///
    /// - Parameter isStranger: false for a listener that does not distinguish clients; such a connection never gives
    ///   way.
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

    /// The client has identified itself. Unknown ids are ignored: that connection has given way.
    package mutating func know(_ id: ID) {
        strangers.remove(id)
        silent.remove(id)
    }

    /// Something arrived from the client, whoever it is.
    package mutating func hear(_ id: ID) { silent.remove(id) }

    /// The connection is over. Closing it twice changes nothing.
    package mutating func close(_ id: ID) {
        guard let address = addresses.removeValue(forKey: id) else { return }
        know(id)
        let rest = counts[address, default: 0] - 1
        counts[address] = rest > 0 ? rest : nil
    }

    /// The connection that gives way to one from another address.
    private var leastOfStrangers: ID? {
        let speaking = strangers.count - silent.count
        return speaking > silent.count ? strangers.lazy.filter { !silent.contains($0) }.min() : silent.min()
    }

    private func oldestStranger(from address: String) -> ID? {
        strangers.lazy.filter { addresses[$0] == address }.min()
    }
}
