package import Domain

/// An ESPHome node as it announces itself in the network (esphome 2026.6.5, components/mdns/mdns_component.cpp,
/// `MDNSComponent::compile_records_`).
///
/// Only names that can stand in meterd.toml as they are make a node. Which components it has is not announced.
package struct AnnouncedNode: Hashable, Sendable {
    package static let service = "_esphomelib._tcp"

    package var name: String
    package var friendlyName: String?
    package var host: String
    package var port: Int
    /// ESPHome's version.
    package var version: String?
    /// The address of its network interface.
    package var mac: MACAddress?
    /// Whether its API has a key: a node that only supports one announces `api_encryption_supported`.
    package var isEncrypted: Bool
    /// Whether it runs the ready-made firmware of a Bluetooth proxy (Home Assistant core, components/esphome/const.py,
    /// `PROJECT_URLS`).
    package var isMadeAsProxy: Bool

    package init?(_ service: FoundService) {
        // A node's name has up to 31 characters (esphome/core/config.py, `validate_hostname`).
        guard Self.isName(service.name, max: 31), !service.name.contains("."), Self.isName(service.host, max: 253),
            (1...0xFFFF).contains(service.port)
        else { return nil }
        (name, host, port) = (service.name, service.host, service.port)
        func told(_ key: String) -> String? {
            service.value(of: key).flatMap { $0.isEmpty ? nil : String($0.prefix(120)) }
        }
        (friendlyName, version) = (told("friendly_name"), told("version"))
        mac = told("mac").flatMap { MACAddress($0) }
        isEncrypted = told("api_encryption") != nil
        isMadeAsProxy = told("project_name") == "esphome.bluetooth-proxy"
    }

    private static func isName(_ text: String, max: Int) -> Bool {
        (1...max).contains(text.utf8.count) && text.first != "-"
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}
