import Domain
import GatewayAPI
import ProgramKit
import USBTransport

/// Devices that are there but that the scan does not list as meters, as shown by `meterctl scan --all`.
enum ScanOthers {
    /// One device, over a radio or on USB.
    struct Entry: Encodable, Hashable {
        var device: String
        @NullCodable var name: String? = nil
        /// `ble`, `spp` or `usb`.
        var transport: String
        /// The adapter, or device nodes.
        var port: String
        var looks_like_meter: Bool
        var reason: String
    }

    struct Listing: Encodable {
        var meters: [ScanEntry]
        var others: [Entry]
    }

    /// Those on this machine's USB and those heard by the daemon's radios.
    static func all(_ client: ControlClient) async throws -> [Entry] {
        let heard: [ScanOther] = try await client.call(.get, "/v1/scan/others")
        return DeviceTable.builtIn.unclaimed().map { Entry($0) } + heard.map { Entry($0) }
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
}
