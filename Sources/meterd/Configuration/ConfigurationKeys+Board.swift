import Domain
import ESPHomeCore
import MeterCodec
import ProxyTransport

/// An `[[esphome.meter]]`, before its keys are checked against each other.
struct BoardKeys: Sendable {
    var node = NodeKeys(in: "[[esphome.meter]]")
    var name: String?
    var connects = true
    var maxAge = NodeMeterSettings.maxAgeDefault
    var sensors: [Quantity: String] = [:]
}

extension ConfigurationKeys {
    static let board = ConfigurationTable(
        "esphome.meter", heading: "[[esphome.meter]]",
        "A board with ESPHome whose own sensors measure voltage, current, power or energy (Docs/Meters/ESPHOME.md). "
            + "Repeatable.",
        defaults: BoardKeys(),
        keys: [
            .init(
                "host", optional: \.node.address, .nodeHost, example: #""shelf.local""#,
                "Its name or address, with a port unless that is 6053."),
            .init(
                "mac", optional: \.node.node.mac, .macAddress, example: #""A0:B7:65:00:11:23""#,
                "Address of its network interface, by which the meter is known. ESPHome's log has it."),
            .init(
                "key-file", optional: \.node.node.keyPath, .file, example: #""/etc/meterd/shelf-key""#,
                "Its key, as for a [[bluetooth.proxy]]."),
            .init("plaintext", \.node.isPlaintext, .flag, "true in place of key-file: no key."),
            .init("name", optional: \.name, .text, example: #""Shelf""#),
            .init(
                "connect", \.connects, .flag, "From the first start; settings made with meterctl take precedence."),
            .init(
                "max-age", \.maxAge, .time(.seconds(1)...(.seconds(3600))),
                "Greatest age of a sensor's value, {range}. An older one is unknown."),
        ]
            + Quantity.ofNodes.map { quantity in
                .init(
                    quantity.word, optional: \.sensors[quantity], .text,
                    example: quantity == .temperature ? #""board_temperature""# : "\"bus_\(quantity.word)\"",
                    quantity == .voltage
                        ? "Object id of the sensor, if the board has several of this device_class. \"\": none."
                        : "The same of \(quantity.word).")
            })
}

extension Configuration {
    mutating func add(board table: [String: DescriptionValue]) throws(ConfigurationError) {
        var keys = BoardKeys()
        try ConfigurationKeys.board.read(table, prefix: "esphome.meter.", into: &keys)
        let node = try keys.node.checked()
        guard let mac = node.mac else {
            throw ConfigurationError(
                "the \(node.table) \(node.display.visible) has no mac",
                next: "give it the address of its network interface, which ESPHome's log has, for example mac = "
                    + "\"A0:B7:65:00:11:23\"")
        }
        let host = node.display
        guard !boards.contains(where: { $0.node.display == host || $0.node.mac == mac }) else {
            throw ConfigurationError(
                "two [[esphome.meter]] have the host or the mac of \(host.visible)",
                next: "take one of them away: a board is one meter")
        }
        boards.append(NodeMeterSettings(node, sensors: keys.sensors, maxAge: keys.maxAge))
        let port = DeclaredPort(.network(host: host), model: GenericFamily.networkBoard, id: .mac(mac), name: keys.name)
        ports.append(Port(declared: port, connects: keys.connects))
    }
}
