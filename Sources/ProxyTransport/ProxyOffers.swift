package import Domain
package import ESPHomeCore
package import GatewayAPI

/// ESPHome nodes in this network that could serve as Bluetooth proxies of this host.
package actor ProxyOffers {
    private let discovery: (any Discovery)?
    private let settings: [NodeSettings]
    private let proxies: Proxies?
    /// The current search for nodes, shared by concurrent callers.
    private var look: Task<ScanNodes, Never>?

    /// - Parameter discovery: finds the nodes in the network; nil to skip the search.
    package init(_ discovery: (any Discovery)?, configured settings: [NodeSettings], proxies: Proxies?) {
        (self.discovery, self.settings, self.proxies) = (discovery, settings, proxies)
    }

    package func nodes() async -> ScanNodes {
        if let look { return await look.value }
        let look = Task { await present() }
        self.look = look
        defer { self.look = nil }
        return await look.value
    }

    private func present() async -> ScanNodes {
        var answer = ScanNodes()
        answer.browses = discovery != nil
        do throws(DiscoveryFault) {
            guard let found = try await discovery?.services(of: "_esphomelib._tcp") else { return answer }
            let met = Set(await proxies?.adapters().compactMap(\.proxy?.name) ?? [])
            answer.more = found.isCut
            answer.nodes = found.services.compactMap { ScanNode($0) }.map { node in
                var node = node
                node.configured = met.contains(node.name) || settings.contains { $0.names(node) }
                return node
            }.sorted { ($0.looks_like_proxy ? 0 : 1, $0.name) < ($1.looks_like_proxy ? 0 : 1, $1.name) }
        } catch {
            (answer.error, answer.next) = (error.message, error.next)
        }
        return answer
    }
}

extension NodeSettings {
    fileprivate func names(_ node: ScanNode) -> Bool {
        (host.lowercased() == node.host.lowercased() && port == node.port) || (name == node.name)
            || (mac != nil && mac?.description == node.mac)
    }
}
