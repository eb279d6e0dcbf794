package struct NetworkPath: Hashable, Sendable {
    package enum InterfaceKind: String, Hashable, Sendable { case wifi, wired, other }

    /// Whether an interface is up with an address, and a route to the server exists.
    package var isSatisfied: Bool
    /// Interface of the route to the server; nil without a route.
    package var interface: String?
    package var kind: InterfaceKind?

    package init(isSatisfied: Bool, interface: String? = nil, kind: InterfaceKind? = nil) {
        self.isSatisfied = isSatisfied
        self.interface = interface
        self.kind = kind
    }

    package static let lost = NetworkPath(isSatisfied: false)
}
