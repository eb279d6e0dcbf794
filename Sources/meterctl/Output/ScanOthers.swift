import Domain
import GatewayAPI
import ProgramKit
import USBTransport

enum ScanOthers {
    struct Entry: Encodable, Hashable {
        var device: String
        @NullCodable var name: String? = nil
        /// Kind of link: `ble`, `spp`, `usb`, or `network` for an ESPHome node.
        var transport: String
        /// Place of the device: adapter, device nodes, or network address.
        var port: String
        var looks_like_meter: Bool
        var reason: String
    }

    struct Listing: Encodable {
        var meters: [ScanEntry]
        var others: [Entry]
    }

    /// Returns devices on this machine's USB, and devices that meterd finds by radio or in the network.
    static func all(_ client: ControlClient, _ nodes: [ScanNode]) async throws -> [Entry] {
        let heard: [ScanOther] = try await client.call(.get, "/v1/scan/others")
        return DeviceTable.builtIn.unclaimed().map { Entry($0) } + heard.map { Entry($0) } + nodes.map { Entry($0) }
    }

    static func table(_ entries: [Entry]) -> Table {
        var table = Table(["DEVICE", "NAME", "TRANSPORT", "PORT", "WHY IT IS NOT LISTED"], wrapsLast: true)
        for entry in entries {
            table.add([
                .init(entry.device), .init(entry.name ?? "–"), .init(entry.transport), .init(entry.port),
                .init(entry.reason, entry.looks_like_meter ? .yellow : nil),
            ])
        }
        return table
    }
}

extension ScanOthers.Entry {
    init(_ one: UnclaimedDevice) {
        let looksLikeMeter =
            switch one.verdict {
            case .unread, .unrecognised, .meter: true
            case .stranger, .none: false
            }
        self.init(
            device: "\(one.device.vendor.fourHexDigits):\(one.device.product?.fourHexDigits ?? "*")",
            name: one.device.texts.isEmpty ? nil : one.device.texts.joined(separator: " "), transport: "usb",
            port: one.nodes.map { "/dev/\($0)" }.joined(separator: ", "), looks_like_meter: looksLikeMeter,
            reason: one.verdict.sentence(of: one.device))
    }

    init(_ heard: ScanOther) {
        self.init(
            device: heard.address, name: heard.name, transport: heard.transport, port: "via \(heard.adapter)",
            looks_like_meter: heard.looks_like_meter, reason: heard.reason)
    }

    init(_ node: ScanNode) {
        let proxy = "\(node.looks_like_proxy || node.configured ? "is" : "may be") a Bluetooth proxy"
        self.init(
            device: node.name, name: node.friendly_name, transport: "network", port: NodeText.address(of: node),
            looks_like_meter: false,
            reason: "an ESPHome node, which \(proxy)\(node.configured ? " of meterd's" : ""); version "
                + "\(node.version ?? "unknown"), \(node.encrypted ? "with" : "without") a key")
    }
}
