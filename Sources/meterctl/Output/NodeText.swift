import Domain
import GatewayAPI
import ProgramKit

enum NodeText {
    /// Returns a hint about ESPHome nodes that could become Bluetooth proxies; nil if meterd.toml contains them all.
    static func offer(_ nodes: ScanNodes) -> String? {
        let free = nodes.nodes.filter { !$0.configured }
        guard !free.isEmpty else { return nil }
        let names = free.prefix(3).map { node in
            "\(node.name) at \(address(of: node)) (\(node.looks_like_proxy ? "is" : "may be") a Bluetooth proxy)"
        }
        let rest = free.count - names.count
        let more = nodes.more ? " and many more" : rest > 0 ? " and \(rest) more" : ""
        return "ESPHome nodes in the network, not used by meterd: \(names.joined(separator: ", "))\(more)"
    }

    /// Returns lines to add to meterd.toml for the first ESPHome node that it lacks; nil if it lacks none. For an
    /// encrypted node, they name a file for the encryption key, which is unknown.
    static func lines(for nodes: ScanNodes) -> [String]? {
        guard let node = nodes.nodes.first(where: { !$0.configured }) else { return nil }
        return [
            "[[bluetooth.proxy]]", "host = \"\(address(of: node))\"",
            node.encrypted ? "key-file = \"/etc/meterd/\(node.name)-key\"" : "plaintext = true",
            "name = \"\(node.name)\"",
        ]
    }

    static func show(_ nodes: ScanNodes) {
        guard let offer = offer(nodes), let lines = lines(for: nodes) else { return }
        Terminal.talk(offer)
        Terminal.talk("to use one, put the key of its ESPHome configuration into a file, and add to meterd.toml:")
        for line in lines { Terminal.talk("    \(line)") }
    }

    static func address(of node: ScanNode) -> String { node.port == 6053 ? node.host : "\(node.host):\(node.port)" }
}
