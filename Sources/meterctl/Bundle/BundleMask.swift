import BluetoothCore
import Domain
import GatewayAPI
import USBTransport

/// Masks private text: names of hosts, zones and people, addresses of unrelated devices, possible passwords and access
/// tokens.
struct BundleMask {
    private let words: [(text: String, instead: String)]
    /// Radio addresses of meters and of this host's adapters, which are not masked.
    private let addresses: Swift.Set<String>

    /// - Parameter words: replacement for each private word. Words of fewer than three characters are ignored, because
    ///   they occur in too many texts.
    init(words: [String: String], addresses: Swift.Set<String>) {
        self.words = words.filter { $0.key.count >= 3 && !Self.common.contains($0.key.lowercased()) }
            .map { (text: $0.key, instead: $0.value) }
            .sorted { ($0.text.count, $0.text) > ($1.text.count, $1.text) }
        self.addresses = addresses
    }

    private static let common: Swift.Set<String> = ["root", "meterd", "localhost", "nobody"]

    func masked(_ text: String) -> String {
        var text = text
        for word in words { text = text.replacing(word.text, with: word.instead) }
        text = text.replacing(#/(?<scheme>[a-zA-Z]{2,8}):\/\/[^\s\/@]+@/#) { "\($0.output.scheme)://<masked>@" }
        text = text.replacing(#/(?<scheme>https?|mqtts?|wss?):\/\/(?<host>\[[^\]]*\]|[^\s\/:]+)/#.ignoresCase()) {
            match in
            Self.isOwn(String(match.output.host)) ? String(match.output.0) : "\(match.output.scheme)://<host>"
        }
        text = text.replacing(
            #/(?<key>password|passwd|passphrase|secret|token|psk|ssid|pin)(?<sign>\s*[=:]\s*)[^\s,;]+/#.ignoresCase()
        ) { "\($0.output.key)\($0.output.sign)<masked>" }
        text = text.replacing(#/\/home\/[^\s\/]+/#, with: "/home/<user>")
        // Mask radio addresses and IPv6 addresses.
        text = text.replacing(#/[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}/#) { match in
            let found = String(match.output)
            guard let address = MACAddress(found) else {
                return found.contains("::") || found.count > 17 ? "<address>" : found
            }
            return addresses.contains(address.description) ? found : "<device>"
        }
        text = text.replacing(#/\b\d{1,3}(?:\.\d{1,3}){3}\b/#) { match in
            Self.isOwn(String(match.output)) ? String(match.output) : "<address>"
        }
        return text.replacing(#/[A-Za-z0-9_+=\-]{20,}/#) { match in
            let found = match.output
            return found.contains(where: \.isNumber) && found.contains(where: \.isLetter) ? "<masked>" : String(found)
        }
    }

    private static func isOwn(_ host: String) -> Bool {
        host.hasPrefix("127.") || host == "localhost" || host == "[::1]" || host == "<host>"
    }

    func masked(_ finding: Finding) -> Finding {
        var finding = finding
        finding.message = masked(finding.message)
        finding.next = finding.next.map { masked($0) }
        return finding
    }
}

extension BundleMask {
    init(machine: MachineFacts, daemon: Checkup.DaemonFacts, support: SupportBody?, hostName: String) {
        var words = [hostName: "<host>", machine.user: "<user>"]
        for one in machine.sharedSerials where !one.isKnown { words[one.serial] = "<serial>" }
        var addresses = Swift.Set((support?.radios?.advertisements ?? []).map(\.address))
        addresses.formUnion((support?.radios?.adapters ?? []).map(\.address))
        for meter in support?.meters ?? [] {
            guard let id = MeterID(meter.id) else { continue }
            words.merge(id.privateText) { one, _ in one }
            if case .mac(let address) = id { addresses.insert(address.description) }
        }
        if case .answers(let answers) = daemon {
            words[answers.cloud.host_name] = "<host>"
            if let zone = answers.cloud.zone { words[zone] = "<zone>" }
            addresses.formUnion(answers.status.adapters.map(\.address))
            for adapter in answers.status.adapters {
                guard let proxy = adapter.proxy else { continue }
                for name in [adapter.name, proxy.name] { if let name { words[name] = "<proxy>" } }
            }
            for meter in answers.status.meters {
                if meter.transport == LinkAddress.Transport.network.rawValue, let port = meter.port {
                    words[port] = "<board>"
                }
                if let holder = meter.lease?.holder { words[holder] = "<host>" }
                if let name = meter.name, !Self.isDevicesOwn(name, meter.model) { words[name] = "<name>" }
                if let id = MeterID(meter.id), case .mac(let address) = id { addresses.insert(address.description) }
                words.merge(MeterID(meter.id)?.privateText ?? [:]) { one, _ in one }
            }
        }
        self.init(words: words, addresses: addresses)
    }

    private static func isDevicesOwn(_ name: String, _ model: String?) -> Bool {
        [RadioAddress.Kind.classic, .lePublic].contains { kind in
            RadioIdentification(name: name, services: [], kind: kind) != .none
        }
    }
}

extension MeterID {
    /// Masks for the private parts of the id. Some ids contain the host's name.
    fileprivate var privateText: [String: String] {
        switch self {
        case .mac: [:]
        case .usb(_, _, let serial): [serial: "<serial>"]
        case .usbPort(_, _, let host, _), .port(let host, _): [host: "<host>"]
        }
    }
}
