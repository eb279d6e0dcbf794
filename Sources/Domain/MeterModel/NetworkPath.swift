/// What the network looks like from here.
package struct NetworkPath: Hashable, Sendable {
    package enum InterfaceKind: String, Hashable, Sendable { case wifi, wired, other }

    /// An interface is up, has an address, and there is a route to the server.
    package var isSatisfied: Bool
    /// The interface that the route leaves by, where there is one.
    package var interface: String?
    package var kind: InterfaceKind?

    package init(isSatisfied: Bool, interface: String? = nil, kind: InterfaceKind? = nil) {
        self.isSatisfied = isSatisfied
        self.interface = interface
        self.kind = kind
    }

    package static let lost = NetworkPath(isSatisfied: false)
}
